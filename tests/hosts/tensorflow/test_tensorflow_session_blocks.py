"""`with` blocks of a session and its `DebugSession` in one another, against what TensorFlow does with the session alone."""
from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import pytest
from scripted_user import ScriptedUser

import pyfuncdbg

pytestmark = [pytest.mark.tensorflow, pytest.mark.timeout(300), pytest.mark.usefixtures('debugged')]
KINDS = {'Session': lambda v1: v1.Session(), 'Monitored': lambda v1: v1.train.MonitoredSession(),
         'Singular': lambda v1: v1.train.SingularMonitoredSession(), 'Interactive': lambda v1: v1.InteractiveSession()}


@pytest.fixture
def debugged(tf: Any) -> Iterator[None]:
    """Attached, and after it as before."""
    with pyfuncdbg.attach('tensorflow'), ScriptedUser():
        yield


def told(action: Callable[[], Any]) -> str:
    """The result, or the error."""
    try:
        return str(action())
    except BaseException as error:
        return f'{type(error).__name__}: {error}'


def nested(tf: Any, kind: str, outer: str, inner: str, raised: BaseException | None) -> list[str]:
    """What a session gives before, inside of, between and after two blocks; and that it can be closed once more, or not."""
    v1, seen = tf.compat.v1, []
    with tf.Graph().as_default():
        v1.train.get_or_create_global_step()
        node = tf.constant(1.0) + 1
        session = KINDS[kind](v1)
        ways = {'session': session}
        if 'wrapper' in (outer, inner):
            ways['wrapper'] = pyfuncdbg.DebugSession(session, ui='none')
        run = lambda: seen.append(told(lambda: session.run(node)))  # noqa: E731

        def within() -> None:
            with ways[inner]:
                run()
                if raised is not None:
                    raise raised

        def around() -> None:
            with ways[outer]:
                run()
                seen.append(told(within))
                run()
        seen.append(told(around))
        run()
        seen.append(told(session.close))
        seen.append(str(v1.get_default_session()))
    return seen


@pytest.mark.parametrize('raised', [None, ZeroDivisionError('no'), StopIteration()], ids=['whole', 'error', 'stop'])
@pytest.mark.parametrize('kind', KINDS)
def test_the_session_in_a_block_of_its_wrapper_is_as_the_session_in_its_own(
        tf: Any, kind: str, raised: BaseException | None) -> None:
    assert nested(tf, kind, 'wrapper', 'session', raised) == nested(tf, kind, 'session', 'session', raised)


def test_an_interactive_session_can_be_closed_by_itself_and_by_its_wrapper(tf: Any) -> None:
    v1 = tf.compat.v1
    for closed in ('session', 'wrapper'):
        with tf.Graph().as_default():
            node = tf.constant(1.0) + 1
            session = v1.InteractiveSession()
            wrapper = pyfuncdbg.DebugSession(session, ui='none')
            assert node.eval() == 2.0 and v1.get_default_session() is wrapper
            {'session': session, 'wrapper': wrapper}[closed].close()
            assert v1.get_default_session() is None
            session.close()
            wrapper.close()
            assert 'close' not in vars(session)

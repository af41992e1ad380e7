"""NumPy's floating-point errors of one call: each is noted, and the program sees what it would have seen."""
from __future__ import annotations

import ctypes
import os
import subprocess
import sys
import traceback
import warnings
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from wrapped_calls import Keeper, wrap

from pyfuncdbg.hooks import chain
from pyfuncdbg.hooks.call import CallSite, Run
from pyfuncdbg.hooks.capture import Capture
from pyfuncdbg.hooks.output import fp_errors
from pyfuncdbg.hooks.output.numpy1_errstate import STATE_PER_THREAD
from pyfuncdbg.hooks.output.numpy_errstate import DEFAULT, state
from pyfuncdbg.hooks.output.output import OutputEntry

PRIVATE = 'numpy.core._ufunc_config' if STATE_PER_THREAD else 'numpy._core._ufunc_config'
DEFAULTS = {'divide': 'warn', 'over': 'warn', 'under': 'ignore', 'invalid': 'warn'}


@pytest.fixture(autouse=True)
def state_as_it_was() -> Iterator[None]:
    before = state.set(DEFAULT)
    yield
    state.reset(before)


def fp(keeper: Keeper, index: int = -1) -> list[OutputEntry]:
    output = keeper.calls[index].output
    assert output is not None
    return [entry for entry in output.entries if entry.kind == 'fp']


def kinds(keeper: Keeper, index: int = -1) -> list[str]:
    return [entry.category for entry in fp(keeper, index)]


def normalize(x: np.ndarray) -> np.ndarray:
    mean = x.mean()
    return (x - mean) / x.std()


def test_every_time_with_its_line_though_the_warning_comes_once(capture: Capture, keeper: Keeper) -> None:
    function = wrap(normalize)
    with warnings.catch_warnings(record=True) as shown:
        warnings.simplefilter('default')
        for _ in range(3):
            function(np.ones(4))
    line = normalize.__code__.co_firstlineno + 2
    for index in range(3):
        (entry,) = fp(keeper, index)
        assert (entry.text, entry.category) == ('invalid value encountered in divide', 'invalid')
        assert (entry.filename, entry.line, entry.function) == (__file__, line, 'normalize')
    assert [(str(w.message), w.category, w.filename, w.lineno) for w in shown] == [
        ('invalid value encountered in divide', RuntimeWarning, __file__, line)]
    assert [kind for kind, _ in keeper.said(0)] == ['fp', 'warning']
    assert [kind for kind, _ in keeper.said(1)] == ['fp']


def test_all_kinds_by_name(capture: Capture, keeper: Keeper) -> None:
    def body() -> None:
        one, zero, huge = np.ones(1), np.zeros(1), np.full(1, 1e300)
        one / zero
        zero / zero
        huge * huge
        np.float64(1) / np.float64(0)
        with np.errstate(under='warn'):
            (1 / huge) * (1 / huge)

    with pytest.warns(RuntimeWarning) as shown:
        wrap(body)()
    assert kinds(keeper) == ['divide', 'invalid', 'over', 'divide', 'under']
    assert [entry.text for entry in fp(keeper)] == [str(w.message) for w in shown]


def test_the_users_line_where_numpy_divides_in_its_own_python_code(capture: Capture, keeper: Keeper) -> None:
    def body() -> None:
        np.mean(np.zeros(0))

    with pytest.warns(RuntimeWarning) as shown:
        wrap(body)()
    entries = fp(keeper)
    assert {(e.filename, e.line, e.function) for e in entries} == {(__file__, body.__code__.co_firstlineno + 1, 'body')}
    # NumPy reports its own lines in the warnings; these are left as they are.
    assert any('numpy' in w.filename for w in shown)


@pytest.mark.parametrize('action', ['default', 'once', 'always', 'module', 'ignore', 'error'])
def test_the_warnings_are_those_of_the_program_alone(action: str) -> None:
    def body() -> list[str]:
        raised = []
        for _ in range(2):
            for divisor in (np.zeros(2), np.zeros(2)):
                try:
                    np.ones(2) / divisor
                except RuntimeWarning as error:
                    raised.append(str(error))
            try:
                np.zeros(2) / np.zeros(2)
            except RuntimeWarning as error:
                raised.append(str(error))
        return raised

    def run(function: Callable[[], list[str]]) -> Any:
        with warnings.catch_warnings(record=True) as shown:
            warnings.simplefilter(action)  # type: ignore[arg-type]
            globals().pop('__warningregistry__', None)
            warnings._onceregistry.clear()  # type: ignore[attr-defined]
            raised = function()
            registry = dict(globals().get('__warningregistry__', {}))
        registry.pop('version', None)
        return raised, registry, [(str(w.message), w.category, w.filename, w.lineno, w.line, w.source) for w in shown]

    bare = run(body)
    capture = Capture()
    capture.start()
    watched = run(wrap(body))
    capture.stop()
    assert watched == bare
    assert (len(bare[0]) == 6) == (action == 'error')


def test_an_error_made_by_a_filter_has_the_programs_traceback(capture: Capture, keeper: Keeper) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter('error')
        with pytest.raises(RuntimeWarning, match='invalid value encountered in divide') as raised:
            wrap(normalize)(np.ones(3))
    frames = traceback.extract_tb(raised.value.__traceback__)
    assert (frames[-1].name, frames[-1].lineno) == ('normalize', normalize.__code__.co_firstlineno + 2)
    assert kinds(keeper) == ['invalid']
    assert keeper.calls[0].error is raised.value


def test_ignored_errors_are_noted_as_such_and_stay_silent(capture: Capture, keeper: Keeper) -> None:
    def body(x: np.ndarray) -> np.ndarray:
        with np.errstate(invalid='ignore'):
            return x / x

    with warnings.catch_warnings():
        warnings.simplefilter('error')
        assert np.isnan(wrap(body)(np.zeros(2))).all()
        with np.errstate(all='ignore'):
            wrap(normalize)(np.ones(2))
    assert [(e.category, e.function) for e in (*fp(keeper, 0), *fp(keeper, 1))] == [
        ('invalid ignored', 'body'), ('invalid ignored', 'normalize')]


def test_ignored_underflow_and_what_numpy_silences_itself_are_no_news(capture: Capture, keeper: Keeper) -> None:
    def body() -> None:
        np.full(1, 1e-300) * np.full(1, 1e-300)
        np.isclose(np.array([np.inf, 1]), np.array([np.inf, 1]))
        np.nanmean(np.array([1.0, np.nan]))

    with warnings.catch_warnings():
        warnings.simplefilter('error')
        wrap(body)()
    assert fp(keeper) == []


@pytest.mark.parametrize('mode', ['raise', 'print', 'call', 'log'])
def test_the_users_other_modes_work_as_ever(
        mode: str, capture: Capture, keeper: Keeper, capfd: pytest.CaptureFixture[str]) -> None:
    heard: list[Any] = []

    class Handler:
        def __call__(self, kind: str, flag: int) -> None:
            heard.append(kind)

        def write(self, text: str) -> None:
            heard.append(text)

    def body() -> str:
        try:
            np.ones(1) / np.zeros(1)
        except FloatingPointError as error:
            return str(error)
        return ''

    with np.errstate(call=Handler(), divide=mode):  # type: ignore[call-overload]
        said = wrap(body)()
    assert said == ('divide by zero encountered in divide' if mode == 'raise' else '')
    assert heard == {'call': ['divide by zero'], 'log': ['Warning: divide by zero encountered in divide\n']}.get(mode, [])
    ctypes.CDLL(None).fflush(None)              # NumPy prints through C's own streams
    assert ''.join(capfd.readouterr()) == ('Warning: divide by zero encountered in divide\n' if mode == 'print' else '')
    assert fp(keeper) == []


def test_linalg_still_finds_a_singular_matrix(capture: Capture) -> None:
    with pytest.raises(np.linalg.LinAlgError, match='Singular matrix'):
        wrap(np.linalg.inv)(np.zeros((2, 2)))


def test_the_program_sees_its_own_state_inside(capture: Capture, keeper: Keeper) -> None:
    def handler(kind: str, flag: int) -> None:
        raise AssertionError('never used')

    def body() -> list[Any]:
        seen: list[Any] = [np.geterr(), np.geterrcall(), np.getbufsize()]
        with np.errstate(divide='raise'):
            seen.append(np.geterr())
            with np.errstate(call=handler):     # beside kinds that warn: NumPy must not report those to it
                seen.append(np.geterrcall() is handler)
                np.zeros(1) / np.zeros(1)
        seen.append(np.seterr(over='print'))
        seen.append(np.geterr())
        np.seterr(over='warn')
        return seen

    with pytest.warns(RuntimeWarning, match='invalid value'):
        seen = wrap(body)()
    assert seen == [DEFAULTS, None, 8192, {**DEFAULTS, 'divide': 'raise'}, True, DEFAULTS, {**DEFAULTS, 'over': 'print'}]
    assert kinds(keeper) == ['invalid']


def test_changes_last_and_ours_does_not_leak(capture: Capture, keeper: Keeper) -> None:
    heard: list[str] = []

    def change() -> None:
        np.seterr(divide='raise')
        np.setbufsize(16384)
        np.seterrcall(lambda kind, flag: heard.append(kind))

    wrap(change)()
    capture.stop()
    assert np.geterr() == {**DEFAULTS, 'divide': 'raise'}
    assert np.getbufsize() == 16384
    np.seterr(invalid='call')
    np.zeros(1) / np.zeros(1)
    assert heard == ['invalid value']
    with pytest.raises(FloatingPointError):
        np.ones(1) / np.zeros(1)


def test_after_everything_raised_and_back_it_is_watched_again(capture: Capture, keeper: Keeper) -> None:
    def body() -> None:
        old = np.seterr(all='raise')
        np.seterr(**old)
        np.ones(1) / np.zeros(1)

    with pytest.warns(RuntimeWarning):
        wrap(body)()
    assert kinds(keeper) == ['divide']
    assert np.geterr() == DEFAULTS


def test_a_nested_call_has_its_own_and_changes_pass_to_the_outer(capture: Capture, keeper: Keeper) -> None:
    def inner_body() -> None:
        np.ones(1) / np.zeros(1)
        np.seterr(over='ignore')

    inner = wrap(inner_body, name='inner')

    def body() -> None:
        np.zeros(1) / np.zeros(1)
        inner()
        np.full(1, 1e300) * 1e300
        np.zeros(1) / np.zeros(1)

    with pytest.warns(RuntimeWarning):
        wrap(body, name='outer')()
    assert kinds(keeper, 0) == ['invalid', 'over ignored', 'invalid']
    assert kinds(keeper, 1) == ['divide']
    assert np.geterr() == {**DEFAULTS, 'over': 'ignore'}


def test_a_ufunc_handed_over_bare_has_no_line_of_the_users(capture: Capture, keeper: Keeper) -> None:
    invoke = partial(chain.invoke, CallSite('log', 'PyFunc', 'python', None), np.log)  # type: ignore[arg-type]
    with pytest.warns(RuntimeWarning, match='invalid value encountered in log'):
        invoke(Run('test', None, 0), [np.full(2, -1.0)])  # type: ignore[arg-type]
    (entry,) = fp(keeper)
    assert (entry.text, entry.filename, entry.line, entry.function) == ('invalid value encountered in log', '', 0, '')


def test_states_are_made_once_and_the_memory_of_them_is_bounded() -> None:
    own = state.get()
    first = fp_errors.watched_state(own)
    assert first is not own
    assert fp_errors.states[own] is first
    assert fp_errors.watched_state(first) is first
    assert state.get() is own
    for _ in range(2 * fp_errors._MANY):
        with np.errstate(divide='warn'):
            fp_errors.watched_state(state.get())
    assert len(fp_errors.states) <= fp_errors._MANY


def test_numpys_functions_are_put_back() -> None:
    config = sys.modules[PRIVATE]
    before = dict(vars(config))
    capture = Capture()
    capture.start()
    assert vars(config) != before
    capture.stop()
    assert vars(config) == before


@pytest.mark.parametrize('instead', ['None', "types.ModuleType('empty')"])
def test_a_numpy_without_what_is_needed_leaves_errors_unwatched(instead: str) -> None:
    program = f"""
import sys, types
import numpy as np
sys.modules['{PRIVATE}'] = {instead}
import pyfuncdbg
from wrapped_calls import Keeper, wrap
from pyfuncdbg.hooks.capture import Capture
from pyfuncdbg.hooks.chain import hooks
from pyfuncdbg.hooks.output.numpy_errstate import state

def body():
    np.ones(1) / np.zeros(1)
    np.seterr(all='ignore')
    np.ones(1) / np.zeros(1)

keeper, capture = Keeper(), Capture()
hooks.add(keeper)
capture.start()
wrap(body)()
print(np.geterr()['divide'])
capture.stop()
print(keeper.said())
"""
    tests = Path(__file__).parent.parent
    environment = {**os.environ, 'PYTHONPATH': os.pathsep.join([str(tests), str(tests.parent)])}
    done = subprocess.run([sys.executable, '-c', program], env=environment, capture_output=True, text=True, timeout=60)
    assert done.stdout == "ignore\n[('warning', 'divide by zero encountered in divide')]\n", done.stderr
    assert done.stderr.count('RuntimeWarning') == 1

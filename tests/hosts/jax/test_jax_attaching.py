"""Attaching to JAX and detaching again: early, late, in the middle of a call, before a fork, to another version."""
from __future__ import annotations

import sys
import threading
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np
import pytest
from hosts.jax.jax_program import RELEASE, record, run
from seen_calls import Seen

import pyfuncdbg
from pyfuncdbg.errors import AttachError
from pyfuncdbg.hooks.chain import hooks
from pyfuncdbg.hosts.jax import jax_parts

pytestmark = [pytest.mark.jax, pytest.mark.timeout(300)]


def halved(v: Any) -> Any:
    return np.asarray(v) / 2


def compiled(jax: Any, function: Any = halved) -> Any:
    shape = jax.ShapeDtypeStruct((), np.float32)
    return jax.jit(lambda v: jax.pure_callback(function, shape, v))


def test_attaching_starts_no_backend(tmp_path: Path) -> None:
    done = run(tmp_path, '-c', 'import jax, pyfuncdbg\npyfuncdbg.attach("jax")\nfrom jax._src import xla_bridge\n'
               'print(len(xla_bridge._backends))')
    assert done.stdout == '0\n', done.stderr


def test_a_program_compiled_before_is_seen(jax: Any) -> None:
    step = compiled(jax)
    step(1.), step(2.)
    hook = Seen()
    with pyfuncdbg.attach('jax'):
        hooks.add(hook)
        try:
            assert float(step(3.)) == 1.5
            assert float(step(4.)) == 2
        finally:
            hooks.remove(hook)
    assert [call.site.name for call in hook.calls] == ['lambda/halved'] * 2
    assert [float(inputs[0]) for inputs in hook.inputs] == [3, 4]
    assert len({call.run.id for call in hook.calls}) == 2 and hook.calls[0].run.label == 'lambda'
    assert float(step(6.)) == 3 and len(hook.calls) == 2


def test_everything_is_as_before_after_detaching(jax: Any) -> None:
    from jax._src import callback, debugging, pjit
    from jax._src.debugger import core
    from jax._src.interpreters import pxla
    jit = pjit.jit_p if RELEASE >= (0, 7) else pjit.pjit_p
    places = [(callback._FlatCallback, '__call__'), (callback, 'emit_python_callback'), (debugging.debug_callback_p, 'impl'),
              (pxla.ExecuteReplicated, '__call__'), (pxla, 'lower_sharding_computation'), (pjit, '_get_fastpath_data'),
              (pjit, '_pjit_call_impl_python'), (jit, 'impl'),
              (pxla.UnloadedMeshExecutable, 'build_unsafe_call'), (jax.errors.JaxRuntimeError, '__init__')]
    before = [getattr(owner, name) for owner, name in places]
    debuggers = dict(core._debugger_registry)
    only_watched = {(pxla.ExecuteReplicated, '__call__'), (pjit, '_pjit_call_impl_python'), (jit, 'impl')}
    hook = Seen()
    hook.kinds = frozenset(('python', 'op'))
    attachment = pyfuncdbg.attach('jax')
    for is_watched in False, True, False:       # no hook: a dispatch by Python passes what is of JAX alone
        assert all((getattr(owner, name) is not old) is (is_watched or (owner, name) not in only_watched)
                   for (owner, name), old in zip(places, before, strict=True))
        (hooks.remove if is_watched else hooks.add)(hook)
    hooks.remove(hook)
    attachment.detach()
    assert all(getattr(owner, name) is old or getattr(owner, name) == old
               for (owner, name), old in zip(places, before, strict=True))
    assert core._debugger_registry == debuggers


def test_attaching_and_detaching_in_the_middle_of_a_call(jax: Any) -> None:
    """The call under way ends as it began; those afterwards are seen, or no longer."""
    hook, attachments = Seen(), []

    def changing(v: Any) -> Any:
        if float(v) == 1:
            attachments.append(pyfuncdbg.attach('jax'))
            hooks.add(hook)
        if float(v) == 3:
            attachments.pop().detach()
        return np.asarray(v) / 2
    step = compiled(jax, changing)
    try:
        assert [float(step(value)) for value in (1., 2., 3., 4.)] == [.5, 1, 1.5, 2]
    finally:
        hooks.remove(hook)
    assert [float(inputs[0]) for inputs in hook.inputs] == [2, 3] and len(hook.returned) == 2
    assert sys.modules['jax._src.callback']._FlatCallback.__call__.__module__ == 'jax._src.callback'


def test_another_version_runs_unwatched(jax: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(jax, '__version__', '0.99.0')
    with pytest.raises(AttachError, match=r'JAX 0\.99\.0 is not supported, expected 0\.6 to 0\.12'):
        pyfuncdbg.attach('jax')


@pytest.mark.parametrize(('part', 'attributes'), [
    (part, attributes.split()[0]) for part, (_, attributes) in jax_parts._MODULES.items()])
def test_a_private_name_that_is_gone_is_named(jax: Any, monkeypatch: pytest.MonkeyPatch, part: str, attributes: str) -> None:
    name, _ = jax_parts._MODULES[part]
    missing = ModuleType(name)
    missing.__dict__.update({key: value for key, value in vars(sys.modules[name]).items() if key != attributes})
    monkeypatch.setitem(sys.modules, name, missing)
    with pytest.raises(AttachError, match=f'is not complete: {name} has no {attributes}'):
        pyfuncdbg.attach('jax')


def test_a_program_with_another_version_gets_one_line(tmp_path: Path) -> None:
    (tmp_path / 'jax').mkdir()
    (tmp_path / 'jax' / '__init__.py').write_text('__version__ = "1.0"\n')
    (tmp_path / 'program.py').write_text('import jax\nprint(jax.__version__)\n')
    done = run(tmp_path, '-m', 'pyfuncdbg', 'run', 'program.py')
    assert done.stdout == '1.0\n'
    assert [line for line in done.stderr.splitlines() if line.startswith('pyfuncdbg: JAX')] == [
        'pyfuncdbg: JAX 1.0 is not supported, expected 0.6 to 0.12. It runs unwatched.']


def test_two_threads_dispatch_at_once(jax: Any, seen: Seen) -> None:
    """Each call belongs to the run of its thread."""
    step = compiled(jax)
    step(0.)
    barrier = threading.Barrier(4)
    results: dict[int, list[float]] = {}

    def work(number: int) -> None:
        barrier.wait()
        results[number] = [float(step(float(10 * number + k))) for k in range(5)]
    threads = [threading.Thread(target=work, args=(number,)) for number in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert results == {number: [(10 * number + k) / 2 for k in range(5)] for number in range(4)}
    assert len(seen.calls) == 21 and len({call.run.id for call in seen.calls}) == 21


FORK = """
import os, sys, warnings
warnings.simplefilter('ignore')
import jax, numpy as np
def halved(v):
    return np.asarray(v) / 2
shape = jax.ShapeDtypeStruct((), np.float32)
step = jax.jit(lambda v: jax.pure_callback(halved, shape, v))
print(float(step(1.)), flush=True)
child = os.fork()
if not child:
    print('child', halved(4.), flush=True)
    os._exit(0)
os.waitpid(child, 0)
print(float(step(3.)))
"""


def test_a_fork_after_attaching(tmp_path: Path) -> None:
    """JAX itself does not work in a forked child; a child that leaves it alone does."""
    done, trace = record(tmp_path, FORK)
    assert done.stdout == '0.5\nchild 2.0\n1.5\n' and done.returncode == 0, done.stderr
    assert [float(call.outputs[0].to_numpy()) for call in trace.calls(kind='python')] == [.5, 1.5]


def test_debug_nans_keeps_its_check(jax: Any, seen: Seen) -> None:
    jnp = jax.numpy
    divided = jax.jit(lambda v: v / v)
    divided(jnp.float32(1)), divided(jnp.float32(1))
    with jax.debug_nans(True), pytest.raises(FloatingPointError):
        divided(jnp.float32(0))
    jax.config.update('jax_debug_nans', True)       # which sets the hook of all threads
    jax.config.update('jax_debug_nans', False)
    assert np.isnan(float(divided(jnp.float32(0))))
    step = compiled(jax)
    step(1.), step(2.), step(3.)
    assert len({call.run.id for call in seen.calls}) == 3


def test_runs_are_seen_after_jax_has_set_the_hook_of_a_thread(jax: Any) -> None:
    """`vmap` switches `jax_debug_nans` off for a while, which sets a hook for this thread alone: none."""
    step, hook = compiled(jax), Seen()
    hook.kinds = frozenset(('run',))
    with pyfuncdbg.attach('jax'):
        hooks.add(hook)
        try:
            step(1.), step(2.)
            jax.vmap(lambda v: v + 1)(jax.numpy.arange(3.))
            step(3.), step(4.)
            with jax.debug_nans(True), pytest.raises(FloatingPointError):
                step(np.float32('nan'))
            step(5.)
        finally:
            hooks.remove(hook)
    assert [float(inputs[0]) for inputs in hook.inputs if inputs and inputs[0] == inputs[0]] == [1, 2, 3, 4, 5]


@pytest.mark.parametrize('elsewhere', [False, True])
def test_runs_are_seen_where_jax_has_set_the_hook_before_attaching(jax: Any, elsewhere: bool) -> None:
    """On the thread that attaches, and on another one from its first dispatch by Python on."""
    step, hook, attached = compiled(jax), Seen(), threading.Event()
    hook.kinds = frozenset(('run',))

    def work() -> None:
        jax.vmap(lambda v: v + 1)(jax.numpy.arange(3.))
        if elsewhere:
            prepared.set()
            attached.wait()
            for value in (1., 2., 3., 4.):
                step(value)
    prepared, thread = threading.Event(), threading.Thread(target=work)
    thread.start() if elsewhere else work()
    if elsewhere:
        prepared.wait()
    with pyfuncdbg.attach('jax'):
        hooks.add(hook)
        attached.set()
        if elsewhere:
            thread.join()
        else:
            for value in (1., 2., 3., 4.):
                step(value)
        hooks.remove(hook)
    assert [float(inputs[0]) for inputs in hook.inputs] == [1, 2, 3, 4]


def test_a_mistake_of_ours_leaves_the_program_as_it_is(jax: Any, seen: Seen, monkeypatch: pytest.MonkeyPatch,
                                                       capfd: pytest.CaptureFixture[str]) -> None:
    from pyfuncdbg.hosts.jax.runs.dispatches import Dispatches
    step = compiled(jax)
    assert float(step(1.)) == .5 and len(seen.calls) == 1

    def broken(*_: Any) -> Any:
        raise ZeroDivisionError('ours')
    monkeypatch.setattr(Dispatches, 'run_of_call', broken)
    assert [float(step(2.)), float(step(4.))] == [1, 2] and len(seen.calls) == 1
    assert capfd.readouterr().err.count('watching callbacks failed and is switched off: ZeroDivisionError: ours') == 1


WITHOUT = '''
import sys
from importlib.abc import MetaPathFinder
class Missing(MetaPathFinder):
    def find_spec(self, name, path, target=None):
        if name.partition('.')[0] == 'jax':
            raise ModuleNotFoundError("No module named 'jax'", name='jax')
sys.meta_path.insert(0, Missing())
import pyfuncdbg
pyfuncdbg.attach('jax')
'''


def test_attaching_without_jax(tmp_path: Path) -> None:
    done = run(tmp_path, '-c', WITHOUT)
    assert done.stderr.splitlines()[-1] == (
        "pyfuncdbg.errors.AttachError: cannot attach to jax: it is not installed. pip install 'pyfuncdbg[jax]' installs it")

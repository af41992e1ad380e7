"""The compiled form of recorded calls gives what the Python one gives: the same program, with and without it."""
from __future__ import annotations

import contextlib
import difflib
import gc
import json
import os
import re
import subprocess
import sys
import threading
import weakref
from collections import Counter
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from contextvars import Context, copy_context
from dataclasses import replace
from pathlib import Path
from types import FrameType
from typing import Any

import numpy as np
import pytest
from seen_calls import Seen
from test_compiled import built

import pyfuncdbg
from pyfuncdbg.errors import DroppedError
from pyfuncdbg.hooks import chain
from pyfuncdbg.hooks.call import Call, CallSite, current
from pyfuncdbg.hooks.call_frames import read_entrance
from pyfuncdbg.hooks.chain import hooks
from pyfuncdbg.hooks.output import fp_errors
from pyfuncdbg.hosts.tensorflow.tapes.py_function_gradients import PyFunctionGradients
from pyfuncdbg.observers.debug.inspecting.stack import nearest_entrance
from pyfuncdbg.observers.record.recorder import Recorder
from pyfuncdbg.observers.record.records import CallRecord, ErrorRecord, Stats, TensorRecord
from pyfuncdbg.observers.record.trace import Trace

pytestmark = [pytest.mark.tensorflow, pytest.mark.skipif(not built(), reason='no C compiler has made the modules')]

PROGRAM = Path(__file__).with_name('compiled_program.py')
TESTS = PROGRAM.parents[2]
TRACES = 'values', 'full', 'doing', 'now', 'silent', 'only', 'none', 'small', 'runs', 'changing', 'changing-other', 'tiny'
QUICK = ('n_cube', 'e_cube', 'n_speak', 'e_speak', 'n_failing', 'e_failing', 'one', 'two', 'squared', 'Session.run', 'cubed',
         'runs_session', 'inner', 'inner_bad', 'parallel', 'n_changes', 'n_raises_1', 'e_raises_2', 'at_double',
         'at_speak', 'at_sin', 'at_failing', 'closure', 'line', 'inside', 'outside', 'on_tape', 'now_speak', 'now_failing',
         'now_closure', 'now_line', 'now_inside', 'now_outside', 'now_inner', 'now_outer', 'now_two', 'now_first',
         'now_second')
"""Sites that the compiled form is to make calls of."""


def run(folder: Path, first: str = 'sys') -> tuple[list[str], dict[str, Any]]:
    """What the program says after the import of a module, and what it notes of how it was recorded."""
    folder.mkdir()
    begin = f'import runpy, sys, {first}; runpy.run_path({str(PROGRAM)!r})'
    path = f'{Path(pyfuncdbg.__file__).parents[1]}{os.pathsep}{TESTS}'
    done = subprocess.run([sys.executable, '-c', begin, folder], capture_output=True, text=True, timeout=110, check=False,
                          cwd=folder,           # not where the package lies as source, which comes first there
                          env=dict(os.environ, PYTHONPATH=path, TF_CPP_MIN_LOG_LEVEL='3'))
    assert done.returncode == 0, done.stderr[-3000:]
    said = [address(line) for line in (done.stdout + done.stderr).splitlines() if not re.match(r'[IWE]\d{4} ', line)]
    return said, json.loads((folder / 'facts.json').read_text())


def address(text: str) -> str:
    """The text without addresses of objects."""
    return re.sub(r'0x[0-9a-f]{6,}', '0x', text)


@pytest.fixture(scope='module')
def both(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Path, Any, Any]:
    """Folders with the traces, and what was said: with and without the compiled modules."""
    folder = tmp_path_factory.mktemp('programs')
    compiled, plain = folder / 'compiled', folder / 'plain'
    return compiled, plain, run(compiled), run(plain, 'uncompiled')


# ---------------------------------------------------------------------- what is the same in both
def tensor(record: TensorRecord) -> str:
    try:
        value: Any = record.to_numpy()
        value = value.tolist() if value.dtype == object else value.tobytes()
    except DroppedError as error:
        value = str(error)
    return repr((record.name, record.dtype, record.shape, record.nbytes, record.level, statistics(record.stats), value,
                 record.changed, record.note))


def statistics(stats: Stats | None) -> str:
    """Mean and deviation by nine digits: C and NumPy add up in other orders."""
    if stats is None:
        return ''
    return repr(replace(stats, **{name: number if (number := getattr(stats, name)) is None else float(f'{number:.9g}')
                                  for name in ('mean', 'std')}))


def error(record: ErrorRecord | None) -> str:
    if record is None:
        return ''
    variables = [(one.frame, [(v.name, v.type, v.text, v.tensor and tensor(v.tensor)) for v in one.variables], one.hidden)
                 for one in record.locals]
    return address(repr((record.type, record.message, record.frames, record.traceback, variables)))


def plainly(call: CallRecord) -> str:
    """A call without numbers and times."""
    said = [(one.kind, one.text, one.category, one.filename, one.line, one.function) for one in call.output]
    ordinal = call.ordinal if not call.site.name.startswith('parallel') else None
    return repr((call.process, call.site.name, call.site.kind, ordinal, [*map(tensor, call.inputs)],
                 [*map(tensor, call.outputs)], said, error(call.error), call.duration is None, call.dropped))


def linked(trace: Trace) -> list[str]:
    """Every call with those it belongs to, and its run."""
    calls = [call for kind in ('python', 'gradient', 'run') for call in trace.calls(kind=kind)]
    texts = {call.number: plainly(call) for call in calls}
    names = {site.id: site.name for site in trace.sites()}
    runs = {(one.process, one.id): (re.sub(r'Dummy-\d+', 'Dummy', one.label), [*map(tensor, one.feeds)],
                                    [*map(tensor, one.fetches)], error(one.error), one.duration is None,
                                    [names.get(site) for site in one.sites]) for one in trace.runs()}
    return sorted(repr((texts[call.number], runs.get((call.process, call.run)),
                        *[texts.get(number) for number in (call.parent, call.forward, *call.sources)])) for call in calls)


def sites(trace: Trace) -> list[str]:
    return sorted(address(repr((one.name, one.op_type, one.kind, one.function, one.line, one.source, one.stack, one.inputs,
                                one.outputs, one.attrs))) for one in trace.sites())


def assert_same(first: list[str], second: list[str]) -> None:
    if first != second:
        changed = [*difflib.unified_diff(first, second, lineterm='', n=0)][:8]
        pytest.fail('\n'.join(line[:1500] for line in changed))


# ---------------------------------------------------------------------- tests
def test_one_was_compiled_and_the_other_was_not(both: Any) -> None:
    compiled, plain, (_, with_it), (_, without) = both
    assert with_it['compiled'] and not without['compiled']
    made: list[Counter[str]] = []
    for folder in (compiled, plain):
        made.append(Counter())
        for name in set(TRACES) - {'tiny', 'none', 'changing-other'}:
            with pyfuncdbg.load(folder / f'{name}.pfd') as trace:
                made[-1].update(call.site.name for kind in ('python', 'run') for call in trace.calls(kind=kind))
    for site in QUICK:
        assert with_it['begun'].get(site, 0) < made[0][site] == made[1][site] <= without['begun'][site], site


def test_the_program_says_and_gives_the_same(both: Any) -> None:
    _, _, (first, _), (second, _) = both
    assert len(first) > 5000
    assert_same(first, second)


@pytest.mark.parametrize('name', [name for name in TRACES if name != 'tiny'])
def test_the_traces_hold_the_same(both: Any, name: str) -> None:
    compiled, plain, *_ = both
    with pyfuncdbg.load(compiled / f'{name}.pfd') as first, pyfuncdbg.load(plain / f'{name}.pfd') as second:
        assert_same(sites(first), sites(second))
        assert_same(linked(first), linked(second))
        assert first.info().dropped == second.info().dropped
        assert [(note.kind, note.data) for note in first.notes() if note.kind != 'ops'] == [
            (note.kind, note.data) for note in second.notes() if note.kind != 'ops']


def test_what_finds_no_room_is_counted(both: Any) -> None:
    """How much that is depends on how fast the writer is: recorded and lost are all that there were."""
    for folder in both[:2]:
        with pyfuncdbg.load(folder / 'values.pfd') as whole, pyfuncdbg.load(folder / 'tiny.pfd') as tiny:
            lost = tiny.info().dropped
            assert lost['tensors'] > 0 and lost['bytes'] > 0
            assert tiny.info().calls + lost.get('calls', 0) == whole.info().calls
            kept, known = {*map(plainly, whole.calls())}, [call for call in tiny.calls() if not any(
                one.note for one in (*call.inputs, *call.outputs)) and not call.dropped]
            if lost.get('sites'):               # where they were made found no room either
                known = [call for call in known if call.site.name != '?']
            assert known and all(plainly(call) in kept for call in known if call.error is None)


@pytest.mark.parametrize('eager', [False, True])
def test_the_stack_of_a_call_that_goes_on_tells_it(tf: Any, tmp_path: Path, eager: bool,
                                                   monkeypatch: pytest.MonkeyPatch) -> None:
    """Whoever comes in the middle of it sees it, on the thread of the function and on the one that waits in the run."""
    v1, found = tf.compat.v1, []

    def function(x: Any) -> Any:
        seen: list[Any] = []
        looking = threading.Thread(target=look, args=(sys._getframe(), seen))
        looking.start()
        looking.join()
        found.append(seen)
        return x

    def look(frame: FrameType, seen: list[Any]) -> None:
        seen.append(nearest_entrance(frame))
        waits: FrameType | None = sys._current_frames()[main]
        while waits is not None:
            entrance = read_entrance(waits)
            if entrance is not None and entrance.site.kind == 'run':
                seen.append(entrance)
            waits = waits.f_back

    main = threading.get_ident()
    with tf.Graph().as_default(), v1.Session() as session:
        x = v1.placeholder(tf.float32, [None], name='x')
        make = tf.py_function if eager else v1.py_func
        y = make(function, [x], tf.float32, name='y')
        with pyfuncdbg.attach('tensorflow'), Recorder(tmp_path / 'calls.pfd') as recorder:
            begins = made_by_the_chain(monkeypatch)
            for number in range(3):
                session.run(y, {x: [number]})
    assert begins == ['Session.run', 'y']       # the second and third were made by the compiled form
    for number, seen in enumerate(found):
        node, *runs = seen
        assert (node.site.name, node.run.label, node.hooks) == ('y', 'Session.run', (recorder,))
        assert [float(value[0]) for value in node.inputs] == [number] and node.call.ordinal == number
        assert len(runs) == (2 if number == 0 else 1)   # the first is told by a frame of `chain` too
        for run in runs:
            assert run.run is node.run and run.call.id == -run.run.id and run.hooks == (recorder,)
            assert [float(value[0]) for value in run.inputs] == [number]


def made_by_the_chain(patch: pytest.MonkeyPatch) -> list[str]:
    """The sites of the calls that the chain makes from now on: the usual ones of a recorder go past it."""
    noted: list[str] = []
    watched = chain._invoke_watched

    def note(site: CallSite, *args: Any, **options: Any) -> Any:
        noted.append(site.name)
        return watched(site, *args, **options)
    patch.setattr(chain, '_invoke_watched', note)
    return noted


@pytest.mark.parametrize('mode', ['numpy_function', 'py_function', 'Session', 'eager'])
def test_what_a_function_raised_keeps_none_of_its_variables(tf: Any, tmp_path: Path, mode: str,
                                                            monkeypatch: pytest.MonkeyPatch) -> None:
    """In the first call, which the Python form makes, and in others: nobody waits for the garbage collector."""
    class Held:
        """A variable."""

    alive: weakref.WeakSet[Held] = weakref.WeakSet()

    def function(x: Any) -> Any:
        held = Held()
        alive.add(held)
        raise ValueError('with variables')

    session = tf.compat.v1.Session(graph=tf.Graph())
    with session.graph.as_default():
        node = tf.compat.v1.py_func(function, [tf.constant(1.0)], tf.float32)
    call = getattr(tf, mode, tf.numpy_function)

    def once() -> Any:
        return call(function, [tf.constant(1.0)], tf.float32)
    again = once if mode == 'eager' else tf.function(once)

    left: list[int] = []
    with pyfuncdbg.attach('tensorflow'), Recorder(tmp_path / 'calls.pfd'), contextlib.closing(session):
        begins = made_by_the_chain(monkeypatch)
        gc.collect()
        gc.disable()
        try:
            for _ in range(4):
                with contextlib.suppress(tf.errors.OpError, ValueError):
                    session.run(node) if mode == 'Session' else again()
                left.append(len(alive))
        finally:
            gc.enable()
    assert left == [0] * 4 and len(begins) == (2 if mode == 'Session' else 1)


def test_calls_in_calls_make_no_new_error_states(tf: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def outer(x: Any) -> Any:
        return tf.numpy_function(lambda y: y / 2, [x], tf.float32)
    with pyfuncdbg.attach('tensorflow'), Recorder(tmp_path / 'calls.pfd'):
        tf.numpy_function(outer, [tf.constant(1.0)], tf.float32)
        begins, known = made_by_the_chain(monkeypatch), len(fp_errors.states)
        for _ in range(20):
            tf.numpy_function(outer, [tf.constant(1.0)], tf.float32)
        assert len(fp_errors.states) == known and not begins


def test_eager_calls_of_many_threads_are_remembered_up_to_a_number() -> None:
    host: Any = None
    gradients = PyFunctionGradients(host, lambda token: None)
    site = CallSite('f', 'EagerPyFunc', 'python', host)
    before = sys.getswitchinterval()
    sys.setswitchinterval(1e-6)

    def expects(thread: int) -> None:
        for number in range(20_000):
            gradients.expect_step(f'{thread}_{number}', site).call = number + 1
    try:
        with ThreadPoolExecutor(4) as pool:
            assert [*pool.map(expects, range(4))] == [None] * 4
    finally:
        sys.setswitchinterval(before)
    known = [gradients.last_call_of(f'{thread}_{number}') for thread in range(4) for number in range(20_000)]
    assert sum(found[0] > 0 and found[1] == 'f' for found in known) == 4096 and known[0] == (0, '')


def test_a_call_that_somebody_keeps_stays_that_call(tf: Any, tmp_path: Path) -> None:
    """In a list, or by a copy of the context in which it ran: calls after it are other objects."""
    kept: list[Call] = []
    contexts: list[Context] = []

    def keeps(x: Any) -> Any:
        call = current.get()
        assert call is not None
        if x < 3:
            kept.append(call)
        elif x < 6:
            contexts.append(copy_context())
        return x * 10

    with tf.Graph().as_default(), tf.compat.v1.Session() as session, pyfuncdbg.attach('tensorflow'):
        x = tf.compat.v1.placeholder(tf.float32, [])
        y = tf.compat.v1.py_func(keeps, [x], tf.float32, name='keeps')
        with Recorder(tmp_path / 'calls.pfd') as recorder:
            for number in range(30):
                assert session.run(y, {x: number}) == 10 * number
            found = kept + [context.run(current.get) for context in contexts]
            with recorder.trace() as trace:
                numbers = [call.number for call in trace.calls() if call.site.name == 'keeps']
    assert [str(call.id) for call in found] == numbers[:6]
    assert [float(call.inputs[0]) for call in found] == [0, 1, 2, 3, 4, 5]
    assert [float(call.outputs[0]) for call in found] == [0, 10, 20, 30, 40, 50]


CODE = """
held = Held()
alive.add(held)
def double(x, kept=held):
    return x * 2
y = [tf.numpy_function(double, [x], tf.float32, name='y') for _ in range(3)]
"""


def test_an_eager_call_is_where_it_stands_and_keeps_nothing(tf: Any, tmp_path: Path,
                                                            monkeypatch: pytest.MonkeyPatch) -> None:
    """The code of two files may be equal, as that of a cell which is run again; what it defined dies with it."""
    class Held:
        """Something that a function holds."""

    alive: weakref.WeakSet[Held] = weakref.WeakSet()
    files = [str(tmp_path / name) for name in 'abca']
    with pyfuncdbg.attach('tensorflow'), Recorder(tmp_path / 'calls.pfd') as recorder:
        tf.numpy_function(np.sin, [tf.constant(1.0)], tf.float32)       # the first one on a thread the Python form makes
        begins = made_by_the_chain(monkeypatch)
        for file in files:
            exec(compile(CODE, file, 'exec'), {'tf': tf, 'x': tf.constant([1.0]), 'Held': Held, 'alive': alive})
        assert not begins
        recorder.flush()
        gc.collect()
        assert not alive
        with recorder.trace() as trace:
            calls = [call for call in trace.calls() if call.site.name == 'y']
            assert [(call.site.stack[-1].filename, call.site.stack[-1].line) for call in calls] == [
                (file, 6) for file in files for _ in range(3)]
            assert [call.ordinal for call in calls] == [0, 1, 2, 0, 1, 2, 0, 1, 2, 3, 4, 5]


class Key:
    """A key of a session's feeds, of a tensor; does something when it is first asked for that."""

    def __init__(self, tensor: Any, first: Callable[[], object]) -> None:
        self._tensor = tensor
        self._first = first

    def deref(self) -> Any:
        self._first()
        self._first = lambda: None
        return self._tensor


def test_hooks_may_change_between_two_lines(tf: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """And nothing keeps a recorder that has stopped."""
    with tf.Graph().as_default(), tf.compat.v1.Session() as session:
        x = tf.compat.v1.placeholder(tf.float32, [], name='x')
        y = x + 1
        hook = Seen()
        recorder = Recorder(tmp_path / 'calls.pfd')
        gone = weakref.ref(recorder)

        def change() -> None:
            hooks.add(hook)
            session.run(y, {x: 5.0})            # what looks on is asked for now
        with pyfuncdbg.attach('tensorflow'):
            with recorder:
                assert [session.run(y, {x: number}) for number in (1.0, 2.0)] == [2, 3]
                try:
                    assert session._do_run(None, [], [y], {Key(x, change): np.float32(3)}, None, None) == [4]
                finally:
                    hooks.remove(hook)
                begins = made_by_the_chain(monkeypatch)
                assert session.run(y, {x: 4.0}) == 5 and not begins
            with recorder.trace() as trace:
                assert [float(run.fetches[0].to_numpy()) for run in trace.runs()] == [2, 3, 6, 4, 5]
            del recorder, begins
            gc.collect()
            assert gone() is None

"""What all tests share: those against the real TensorFlow need it installed, and no test is timed."""
from __future__ import annotations

import contextlib
import dataclasses
import gc
import importlib.util
import inspect
import os
import signal
import sys
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path
from types import FunctionType
from typing import Any

import numpy as np
import pytest
from hypothesis import settings

from pyfuncdbg.hooks import live_objects
from pyfuncdbg.hooks.chain import hooks
from pyfuncdbg.hooks.output import numpy_errstate
from pyfuncdbg.hosts import FRAMEWORKS
from pyfuncdbg.observers.debug.lines import live_functions
from pyfuncdbg.observers.record import records
from pyfuncdbg.observers.record.trace import Trace

TESTS = str(Path(__file__).resolve().parent)
COMPILED = [*Path(TESTS).parent.joinpath('pyfuncdbg').rglob('*.so')]

# The machines that run the tests are shared: how long an example takes says nothing about the code. A change passes or not
# for what it does: the same examples are tried each time. .ci/run has the profile 'new examples'.
settings.register_profile('same examples', deadline=None, derandomize=True)
settings.register_profile('new examples', deadline=None)
settings.load_profile('same examples')

# xdist's workers have the first two: programs in terminals of the tests would take them for the size, whatever the terminal
# says. Options of this run are not for the pytest that a test starts.
for name in ('COLUMNS', 'LINES', 'PYTEST_ADDOPTS'):
    os.environ.pop(name, None)

# The configuration of whoever runs the tests is no part of them, and what they choose is not kept for him.
os.environ['XDG_CONFIG_HOME'] = os.devnull

# The idle threads of NumPy's OpenBLAS spin before they sleep: of a program that only starts that is a third of the work.
os.environ.setdefault('OPENBLAS_THREAD_TIMEOUT', '4')

# Programs of the tests are to hear Ctrl-C and to die of a hang-up, also where a shell runs the tests in the background.
for name in ('SIGHUP', 'SIGINT', 'SIGQUIT'):
    if hasattr(signal, name) and signal.getsignal(getattr(signal, name)) is signal.SIG_IGN:
        signal.signal(getattr(signal, name), signal.default_int_handler if name == 'SIGINT' else signal.SIG_DFL)


def pytest_configure() -> None:
    stale = [module for module in COMPILED if module.stat().st_mtime < max(
        source.stat().st_mtime for source in module.parent.glob(f'{module.name.partition(".")[0]}.p*'))]
    if stale:
        raise pytest.UsageError(f'compiled before their source was edited: {", ".join(module.name for module in stale)}; '
                                'repeat `pip install -e .`')


def pytest_xdist_auto_num_workers() -> int | None:
    """With `-n logical` two for each core: many tests wait for a program, a terminal or a thread."""
    cores = len(os.sched_getaffinity(0)) if hasattr(os, 'sched_getaffinity') else os.cpu_count() or 1
    return None if 'PYTEST_XDIST_AUTO_NUM_WORKERS' in os.environ else 2 * cores


def pytest_collection(session: pytest.Session) -> None:
    """Where all tests run, each of xdist's workers first compiles a share of them, with their asserts rewritten: all need
    the result, and together they would do the same work at the same time."""
    worker, count = os.environ.get('PYTEST_XDIST_WORKER'), int(os.environ.get('PYTEST_XDIST_WORKER_COUNT', '1'))
    if worker is None or sys.dont_write_bytecode or session.config.args != session.config.getini('testpaths'):
        return
    for path in sorted(Path(TESTS).rglob('test_*.py'))[int(worker[2:])::count]:
        spec = session.config.pluginmanager.rewrite_hook.find_spec(path.stem, [str(path.parent)])
        if spec is not None and spec.loader is not None:
            with contextlib.suppress(BaseException):        # whatever it raises, it does when it is imported too
                spec.loader.exec_module(importlib.util.module_from_spec(spec))


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    for item in items:
        if item.path.is_relative_to(f'{TESTS}/ui/prompt') or item.path.is_relative_to(f'{TESTS}/ui/inspector'):
            item.add_marker('stops')
    if not os.path.exists('/dev/nvidia0'):
        absent = pytest.mark.skip(reason='needs a GPU of NVIDIA, and a PyTorch and JAX for it')
        for item in items:
            if item.get_closest_marker('gpu'):
                item.add_marker(absent)
    for framework in FRAMEWORKS.values():
        if importlib.util.find_spec(framework.name) is None:
            absent = pytest.mark.skip(
                reason=f"needs the real {framework.title}: pip install '.[{framework.name}]'; .ci/run does so")
            for item in items:
                if item.get_closest_marker(framework.name):
                    item.add_marker(absent)


@pytest.fixture(scope='session', autouse=True)
def own_temporary_files() -> Iterator[None]:
    """What this process leaves is removed at its end, though xdist's workers end without exit handlers. The name is short:
    where lines of answers break depends on it."""
    folder = tempfile.TemporaryDirectory(prefix='t', ignore_cleanup_errors=True)
    with folder as place, pytest.MonkeyPatch.context() as patch:
        patch.setattr(tempfile, 'tempdir', place)
        yield


@pytest.fixture(scope='session')
def frozen() -> Iterator[dict[str, list[FunctionType]]]:
    """The collector, and the debugger's search for functions, pass over the half million objects that the test run brought,
    and over what the tests of other modules left.

    Gives:
        The tests' functions among them, by file.
    """
    gc.collect()
    with pytest.MonkeyPatch.context() as patch:
        # What is frozen is counted each time, and followed from each object to the next: both takes long.
        patch.setattr(gc, 'get_freeze_count', int)
        yield {}
    gc.unfreeze()


@pytest.fixture(scope='module', autouse=True)
def few_functions(frozen: dict[str, list[FunctionType]], request: pytest.FixtureRequest) -> Iterator[None]:
    """Of functions that are frozen, the search is shown those of this module and of what tests import."""
    for function in live_objects.find_objects(FunctionType):
        if function.__code__.co_filename.startswith(TESTS):
            frozen.setdefault(function.__code__.co_filename, []).append(function)
    gc.collect()                                # what is frozen as garbage stays for good, with its open files
    gc.freeze()
    own = [function for filename, functions in frozen.items() for function in functions
           if filename == str(request.path) or not os.path.basename(filename).startswith('test_')]
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(live_functions, 'find_objects', lambda *kinds: [
            *live_objects.find_objects(*kinds), *(own if FunctionType in kinds else ())])
        yield


@pytest.fixture(autouse=True)
def leaves_the_process_as_it_was() -> Iterator[None]:
    """The next test of this process finds no hook of this one and no thread that is stepped, NumPy reports its errors as
    before, and garbage is collected."""
    before, state = (np.geterr(), np.geterrcall(), list(hooks._all), stepped(), collector()), numpy_errstate.current_state()
    yield
    after = np.geterr(), np.geterrcall(), list(hooks._all), stepped(), collector()
    numpy_errstate.state.set(state)
    if (module := sys.modules.get('pyfuncdbg.observers.debug.debugger')) is not None:
        module.debugger.plans.clear()
    assert after == before


def collector() -> tuple[bool, tuple[int, int, int]]:
    """Whether and when it collects."""
    return gc.isenabled(), gc.get_threshold()


def stepped() -> list[int]:
    """Native ids of the threads of which the debugger still wants something."""
    module = sys.modules.get('pyfuncdbg.observers.debug.debugger')
    return list(module.debugger.plans) if module is not None else []


@pytest.fixture
def shut_trace(monkeypatch: pytest.MonkeyPatch) -> Callable[[], None]:
    """Makes every trace, and the records that read one, raise at any access from then on."""
    def read(*args: Any, **options: Any) -> None:
        raise AssertionError('a view reads the trace')

    def shut() -> None:
        for name, member in vars(Trace).items():
            if inspect.isfunction(member) and not name.startswith('__'):
                monkeypatch.setattr(Trace, name, read)
        for kind in vars(records).values():
            if isinstance(kind, type) and dataclasses.is_dataclass(kind):
                for name in {'to_numpy', 'source_at'} & set(vars(kind)):
                    monkeypatch.setattr(kind, name, read)
    return shut

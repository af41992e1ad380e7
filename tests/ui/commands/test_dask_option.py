"""`--dask`: answers of a local cluster and of a real Dask cluster are those of one process, byte for byte, whatever dies.

Commands are carried out in a process of their own, one after the other; the program has each kind of finding.
"""
from __future__ import annotations

import json
import os
import subprocess
import sys
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal

import msgpack
import numpy as np
import pytest

import pyfuncdbg
from pyfuncdbg import record, tf
from pyfuncdbg.distributed.plain_answer import from_plain, to_plain
from pyfuncdbg.errors import CommandError, TraceError
from pyfuncdbg.observers.record.trace import Trace
from pyfuncdbg.ui.commands.engine.command import Context
from pyfuncdbg.ui.commands.execute import execute

pytest.importorskip('distributed.client', reason="needs distributed: pip install '.[test]'")
ROOT = Path(pyfuncdbg.__file__).resolve().parents[1]
PROGRAM = '''
import os, sys
import numpy as np
from pyfuncdbg import tf

SEEN = []
FILE = open(__file__)

def pure(x):
    return x + 1

def noisy(x):
    return x + np.random.rand()

def counts(x):
    SEEN.append(len(SEEN))
    return x * len(SEEN)

def says(x):
    print('said', x)
    x[...] = 0
    return x

def fails(x):
    raise ValueError(f'no {x}')

def scaled(x):
    return x * float(os.environ['FACTOR'])

def of_file(x):
    return x * FILE.fileno()

def deadly(x):
    if os.environ.get('DEADLY') and x > 1:
        os.abort()
    return x

def once(x):
    if os.path.exists('kills once'):
        os.unlink('kills once')
        os.kill(os.getppid(), 9)
    return x

def always(x):
    if os.path.exists('kills always') and x == 1:
        os.kill(os.getppid(), 9)
    return x

def of_python(x):
    return tf.py_function(lambda y: y * y, [x], tf.float64)

@tf.custom_gradient
def wrong(x):
    return x * x, lambda upstream: upstream * x

for number in range(3):
    x = np.full(2, number, float)
    for function in (pure, noisy, counts, says, fails, scaled, of_file):
        try:
            tf.numpy_function(function, [x], tf.float64, name=function.__name__)
        except ValueError:
            pass
    for function in (deadly, once, always):
        tf.numpy_function(function, [float(number)], tf.float64, name=function.__name__)
    y = tf.constant(number + 1.0, tf.float64)
    with tf.GradientTape() as tape:
        tape.watch(y)
        z = of_python(y) + wrong(y)
    tape.gradient(z, y)
'''
ASK = '''
import json, os, signal, subprocess, sys, threading, time

def answers(path, lines):
    """The text and the JSON of each command, or its error, with what it said before."""
    from pyfuncdbg.errors import PyfuncdbgError
    from pyfuncdbg.observers.record.trace import Trace
    from pyfuncdbg.ui.commands.engine.command import Context
    from pyfuncdbg.ui.commands.execute import execute
    found = []
    with Trace.open(path) as trace:
        for line in lines:
            said = []
            try:
                answer = execute(line, Context(trace, announce=said.append))
                found.append([said, answer.text(), answer.json])
            except PyfuncdbgError as error:
                found.append([said, 'error', str(error)])
    return found
'''
COMMANDS = ['audit', 'replay --all -n 1', 'check -n 9']


@pytest.fixture(scope='module')
def recorded(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp('work')
    (folder / 'work.py').write_text(PROGRAM)
    done = python(folder, '-m', 'pyfuncdbg', 'run', '-q', '--record', 't.pfd', 'work.py', FACTOR='2')
    assert done.returncode == 0, done.stderr
    return folder


def python(folder: Path, *words: str, **variables: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run([sys.executable, *words], cwd=folder, capture_output=True, text=True, timeout=110, check=False,
                          env={**os.environ, 'PYTHONPATH': str(ROOT), 'TMPDIR': str(folder), **variables})


def asked(folder: Path, program: str, **variables: str) -> Any:
    """What a program that asks prints."""
    done = python(folder, '-c', ASK + program, **{'FACTOR': '3', **variables})
    assert done.returncode == 0 and not done.stderr, done.stderr
    return json.loads(done.stdout.splitlines()[-1])


@pytest.fixture(scope='module')
def alone(recorded: Path) -> list[Any]:
    """The answers of one process."""
    return asked(recorded, f"print(json.dumps(answers('t.pfd', {COMMANDS!r})))")


def test_a_local_cluster_answers_as_one_process_does(recorded: Path, alone: list[Any]) -> None:
    lines = [f'{command} --dask local:2' for command in COMMANDS]
    spread = asked(recorded, f"print(json.dumps(answers('t.pfd', {lines!r})))")
    assert spread == alone
    (_, audit, _), (said, replayed, data), (_, checked, _) = spread
    for finding in ('draws random numbers', 'writes a global', 'prints', 'differs from the recording', 'NOT KNOWN', 'PURE'):
        assert finding in audit, audit
    assert said[0].startswith('replay runs 11 functions of ') and json.loads(data)['verdicts'] == {
        'same': 28, 'differs': 2, 'not replayed': 3} and 'and 1 more call' in replayed
    assert 'DIFFERS' in replayed and 'FILE' in replayed and 'OK' in checked and 'unchecked' in checked
    assert not [path.name for path in recorded.iterdir() if path.name.startswith('pyfuncdbg-')]


def test_a_function_that_ends_its_process_is_named_and_the_others_have_their_results(recorded: Path) -> None:
    said = asked(recorded, """
seen = []
from contextlib import contextmanager, suppress
from pyfuncdbg.observers.record.trace import Trace
from pyfuncdbg.ui.commands.engine.command import Context
from pyfuncdbg.ui.commands.execute import execute
import psutil

@contextmanager
def progress(what):
    def tell(done, total):
        own, listening = psutil.Process(), []
        for process in (own, *own.children(recursive=True)):
            with suppress(psutil.NoSuchProcess):        # it has just ended
                listening += [one.laddr for one in process.net_connections('inet') if one.status == 'LISTEN']
        seen.append([what, done, total, len(own.children()), listening])
    yield tell

with Trace.open('t.pfd') as trace:
    result = execute('replay --all deadly --dask local:2', Context(trace, progress=progress)).result
    audit = execute('audit deadly --dask local:1', Context(trace)).result.sites[0]
    children = len(psutil.Process().children())
print(json.dumps([result.verdicts, list(result.refusals), result.same, audit.purity, audit.remarks, seen, children]))
""", DEADLY='1')
    verdicts, refusals, same, purity, remarks, seen, children = said
    assert verdicts == {'same': 2, 'not replayed': 1} and not same
    assert refusals == ['#38: the process that worked at it was ended by SIGABRT']
    assert purity == 'not known' and remarks == ['not replayed: the process that worked at it was ended by SIGABRT']
    assert {(what, total) for what, _, total, _, _ in seen} == {('replaying, calls', 3)} and seen[-1][1] == 3
    assert any(started for *_, started, _ in seen) and not any(listening for *_, listening in seen) and not children


CLUSTER = '''
import dask
from distributed import LocalCluster
from functools import partial

SMALL = {'threads_per_worker': 1, 'dashboard_address': ':0'}

def written(name, text):
    with open(name, 'w') as file:
        file.write(text)
    return name

if __name__ == '__main__':
    dask.config.set({'distributed.scheduler.allowed-failures': 0})
    found = {}
    with LocalCluster(n_workers=2, **SMALL) as cluster:
        ask = lambda *lines: answers('t.pfd', [f'{line} --dask {cluster.scheduler_address}' for line in lines])
        found['same'] = ask('replay --all -n 1')
        written('kills once', '')
        found['once'] = ask('replay --all once')[0]
        written('kills always', '')
        found['always'] = ask('replay --all always')[0]
        os.unlink('kills always')
    other = written('other.py', 'import pyfuncdbg\\nfrom pyfuncdbg.distributed import work_process\\n'
                                'pyfuncdbg.__version__ = "9.9"\\n'
                                'def read_manifest(path):\\n    raise FileNotFoundError(path)\\n'
                                'work_process.read_manifest = read_manifest\\n')
    with LocalCluster(n_workers=1, preload=[other], **SMALL) as cluster:
        found['other'] = ask('audit')[0]
    without = written('without.py', 'import sys\\nsys.modules["pyfuncdbg"] = None\\n')
    with LocalCluster(n_workers=1, preload=[without], **SMALL) as cluster:
        found['without'] = ask('audit')[0]
    with LocalCluster(n_workers=0, **SMALL) as cluster:
        found['empty'] = ask('audit')[0]
    print(json.dumps(found))
'''


def test_a_cluster_answers_as_one_process_does_whatever_dies(recorded: Path, alone: list[Any]) -> None:
    (recorded / 'job.py').write_text(ASK + CLUSTER)
    done = python(recorded, 'job.py', FACTOR='3')
    assert done.returncode == 0, done.stderr
    found = json.loads(done.stdout.splitlines()[-1])
    assert found['same'] == [alone[1]]
    (_, _, once), (_, text, always) = found['once'], found['always']
    assert json.loads(once)['verdicts'] == {'same': 3} and not (recorded / 'kills once').exists()
    assert json.loads(always)['verdicts'] == {'same': 2, 'not replayed': 1}
    assert 'not replayed, 1 call: #25: each worker that worked at it has died' in text
    assert not [line for line in done.stderr.splitlines() if 'pyfuncdbg' in line]

    refusals = {name: found[name][2] for name in ('other', 'without', 'empty')}
    assert all(text.startswith('--dask tcp://127.0.0.1:') and '\n' not in text for text in refusals.values())
    assert '1 of 1 workers cannot work at the trace: tcp://' in refusals['other']
    assert f'pyfuncdbg 9.9 there, {pyfuncdbg.__version__} here; ' in refusals['other']
    assert 't.pfd cannot be read there; every worker must see the folder of the trace' in refusals['other']
    assert "No module named 'pyfuncdbg" in refusals['without'] and 'has no worker' in refusals['empty']


@pytest.mark.parametrize(('words', 'text'), [
    ('audit --dask locall', "'locall' is no cluster: expected 'local', 'local:4' or the address of a scheduler, such as "
                            "tcp://127.0.0.1:8786. Did you mean 'local'?"),
    ('audit --dask local:0', "'0' is not an integer from 1 on"), ('audit --dask local:', "'' is not an integer from 1 on"),
    ('audit --dask nonsense://x:1', "no Dask cluster answers at 'nonsense://x:1'"),
    ('replay 1 --dask local', '--dask is for replay --all: one call is replayed here'),
    ('replay', 'which call? '), ('replay --all --times 2', '--times and --all exclude each other'),
    ('replay --all nothing', "no Python function was called at 'nothing'"),
])
def test_what_cannot_be_asked_for_is_one_line(recorded: Path, words: str, text: str) -> None:
    with Trace.open(recorded / 't.pfd') as trace, pytest.raises(CommandError) as error:
        execute(words, Context(trace))
    assert text in str(error.value) and '\n' not in str(error.value)


def test_a_program_that_runs_is_asked_here(tmp_path: Path) -> None:
    with record(tmp_path / 'own.pfd') as recorder:
        tf.numpy_function(np.negative, [np.ones(2)], tf.float64)
        with recorder.trace() as trace, pytest.raises(CommandError, match='--dask is for a finished trace'):
            execute('audit --dask local', Context(trace))


def test_without_distributed_it_says_how_to_get_it(recorded: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, 'distributed', None)
    how = r"pip install 'pyfuncdbg\[distributed\]'"
    with Trace.open(recorded / 't.pfd') as trace, pytest.raises(CommandError, match=how):
        execute('audit --dask local', Context(trace))


@dataclass(frozen=True)
class Sample:
    name: str
    numbers: tuple[int, ...]
    pairs: tuple[str, float] = ('', 0.0)
    of: Literal['a'] | Literal['b'] | None = None
    counts: dict[str, int] = field(default_factory=dict)
    inner: tuple[Sample, ...] = ()


def test_results_cross_as_plain_data_and_nothing_else_is_read() -> None:
    sample = Sample('x', (1, 2), ('y', 0.5), 'a', {'n': 3}, (Sample('z', ()),))
    assert from_plain(Sample, msgpack.unpackb(msgpack.packb(to_plain(sample)))) == sample
    plain = to_plain(sample)
    for place, wrong in ((0, 1), (0, None), (1, [True]), (1, 'ab'), (2, ['y']), (2, ['y', '0.5']), (3, 'c'), (4, {'n': 'm'}),
                         (4, []), (5, [1])):
        with pytest.raises(TraceError, match='what a worker has answered cannot be read'):
            from_plain(Sample, [*plain[:place], wrong, *plain[place + 1:]])
    with pytest.raises(TraceError):
        from_plain(Sample, plain[:-1])

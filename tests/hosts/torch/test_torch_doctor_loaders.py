"""What the doctor says of loaders: workers that raise or die, and who waits for whom."""
from __future__ import annotations

import os
import signal
import subprocess
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from torch_programs import diagnosed, run_command

from pyfuncdbg.hooks.call import Frame
from pyfuncdbg.hooks.diagnosis import Finding, Place, RecordedFact, Spot
from pyfuncdbg.hosts.torch.doctor.loader_judges import find_slow_loaders
from pyfuncdbg.hosts.torch.doctor.worker_failures import WorkerFailures, signal_name
from pyfuncdbg.hosts.torch.doctor.worker_judges import find_dead_workers, find_worker_errors
from pyfuncdbg.observers.debug.diagnosis.evidence import TraceEvidence
from pyfuncdbg.observers.record.trace import Trace

LINE, DATA = Place('train.py', 12), Place('data.py', 5)


class Evidence:
    """A trace of a main process, 1, and of workers 0 and 1, which are processes 2 and 3."""

    def __init__(self, *facts: RecordedFact, cpus_used: float = 1.0) -> None:
        self.spots: list[Spot] = []
        self.pids = {1: 100, 2: 200, 3: 300}
        self._facts = facts
        self._cpus_used = cpus_used
        self._times: dict[tuple[int, int], tuple[int, float]] = {}

    def function(self, name: str, op: str, durations: Mapping[int, Sequence[float]], place: Place = LINE, gap: float = 0.0,
                 **call: Any) -> Evidence:
        """Add a function, with the durations of its calls by process."""
        calls: list[Any] = []
        sites: list[Any] = []
        for process, seconds in durations.items():
            id = len(self.spots) + 1
            site = SimpleNamespace(id=id, process=process, name=name, op_type=f'DataLoader.{op}', host='torch',
                                   filename=DATA.filename, line=DATA.line, stack=())
            sites.append(site)
            self._times[process, id] = len(seconds), sum(seconds)
            started = 1.0
            for number, duration in enumerate(seconds):
                calls.append(SimpleNamespace(number=f'{process}.{number}', site=site, started=started, duration=duration,
                                             **{'inputs': (), 'error': None, **call}))
                started += duration + gap
        self.spots.append(Spot(place, sites, calls, len(calls), 0, 0.0))
        return self

    def facts_of_kind(self, kind: str) -> list[RecordedFact]:
        return [fact for fact in self._facts if fact.kind == kind]

    def time_at(self, site: Any) -> tuple[int, float]:
        return self._times[site.process, site.id]

    def scalar(self, tensor: Any) -> Any:
        return tensor.value

    def use(self, spot: Spot) -> Any:
        wall = sum(call.duration or 0.0 for call in spot.calls)
        return SimpleNamespace(cpu=wall * self._cpus_used, waiting=wall * (1 - self._cpus_used))

    def run_label(self, number: str) -> str:
        process = int(number.partition('.')[0])
        return 'eager code of MainThread' if process == 1 else f'DataLoader worker {process - 2}'


def loader(workers: int = 2, **seconds: Any) -> RecordedFact:
    """The fact about a loader; times in seconds."""
    data: dict[str, Any] = {'dataset': 'Samples', 'workers': workers, 'cpus': 4, 'passes': 1, 'batches': 20,
                            'persistent': False, 'pids': {'200': 0, '300': 1} if workers else {}}
    times = {'made': 0.0, 'first': 0.0, 'waited': 0.0, 'ended': 0.0, 'span': 10.0}
    for name, value in seconds.items():
        if name in times:
            times[name] = value
        else:
            data[name] = value
    return RecordedFact('torch loader', 1, 0, LINE, {**data, **{name: round(value * 1e9) for name, value in times.items()}})


def slow(evidence: Any) -> list[Finding]:
    return list(find_slow_loaders(evidence))


def errors(evidence: Any) -> list[Finding]:
    return list(find_worker_errors(evidence))


def deaths(evidence: Any) -> list[Finding]:
    return list(find_dead_workers(evidence))


# ---------------------------------------------------------------- who waits for whom
def test_busy_workers_that_the_program_waits_for_need_help() -> None:
    finding, = slow(Evidence(loader(waited=8.0)).function('Samples.row', 'item', {2: [.1] * 90, 3: [.1] * 90}, gap=.001)
                    .function('joined', 'collate_fn', {2: [.001] * 9, 3: [.001] * 9}))
    assert (finding.kind, finding.site, finding.place) == ('loader', 'Samples', LINE)
    assert finding.what == ('The program waits for the loader of Samples 8.00 s of 10.00 s, and its 2 workers are busy 99% '
                            'of the time: Samples.row (data.py:5) took 18.00 s in 180 calls')
    assert finding.fix == 'DataLoader(..., num_workers=4)'
    assert finding.figures == {'waiting seconds': 8.0, 'share of the time': 0.8, 'batches': 20, 'workers': 2, 'CPUs': 4,
                               'busy share of the workers': pytest.approx(.99, abs=.01)}
    few, = slow(Evidence(loader(waited=8.0, cpus=2)).function('f', 'item', {2: [.1] * 90, 3: [.1] * 90}))
    assert not few.fix and 'with 2 CPUs more workers help only where it waits for a disk or a network' in few.advice


@pytest.mark.parametrize('evidence', [
    Evidence(loader(waited=.4)).function('f', 'item', {2: [.1] * 90}),                          # in all too little
    Evidence(loader(waited=2.0, span=100.0)).function('f', 'item', {2: [1.0] * 90}),            # a small share
    Evidence(loader(waited=.9, span=2.0)).function('f', 'item', {2: [1e-5] * 9000, 3: [1e-5] * 9000}),   # what we add
    Evidence(loader(first=3.0)).function('f', 'item', {2: [.5] * 20}),                          # but for the first batch
    Evidence(loader(waited=8.0, batches=4)).function('f', 'item', {2: [.5] * 16}),               # one batch may tell nothing
    Evidence(loader(0, waited=8.0, batches=4)).function('f', 'item', {1: [.5] * 16}),
    Evidence(loader(made=3.0, ended=3.0)),                                                      # started once
    Evidence(loader(made=3.0, ended=3.0, passes=9, persistent=True)),
    Evidence(loader(first=6.0, passes=5, batches=50, forked=True)),     # what PyTorch's own collation may take
    Evidence(loader(first=5.0, passes=5, batches=50)).function('f', 'item', {2: [.1] * 250, 3: [.1] * 250}),
    Evidence(loader(0, waited=9.0)).function('f', 'item', {1: [.01] * 9}),                      # not in the functions
    Evidence(loader(0, waited=9.0)).function('f', 'item', {1: [.1] * 90}, Place('train.py', 40)),        # another loader's
    Evidence(loader(0, waited=9.0)).function('f', 'item', {2: [.1] * 90}),
    Evidence(RecordedFact('torch loader', 1, 0, LINE, {'workers': 'two', 'span': None, 'pids': [3]})),   # forged
    Evidence(RecordedFact('torch loader', 1, 0, LINE, {'workers': 2, 'waited': 10**10, 'span': -1, 'pids': {'200': 'x'}}))])
def test_no_fault(evidence: Evidence) -> None:
    assert slow(evidence) == []


def test_what_is_not_known_is_not_claimed() -> None:
    finding, = slow(Evidence(loader(waited=8.0)).function('f', 'item', {2: [.01] * 90, 3: [.01] * 90}, gap=.09))
    assert 'its 2 workers are in recorded functions only 10% of the time' in finding.what
    assert finding.fix == ''
    unrecorded, = slow(Evidence(loader(waited=8.0)))
    assert 'in recorded functions only 0% of the time' in unrecorded.what


def test_workers_that_are_started_in_each_pass() -> None:
    finding, = slow(Evidence(loader(made=1.0, first=4.0, ended=.5, passes=5, batches=50))
                    .function('f', 'item', {2: [.1] * 10, 3: [.1] * 10}))
    assert 'started and ended anew in each of 5 passes, and the program waits for that: 5.30 s of 10.00 s' in finding.what
    assert finding.fix == 'DataLoader(..., persistent_workers=True)'
    forked, = slow(Evidence(loader(made=2.0, first=4.0, ended=1.5, passes=5, batches=50, forked=True)))
    assert 'the program waits for that: 3.50 s of 10.00 s' in forked.what


def test_one_worker_that_is_slower() -> None:
    evidence = Evidence(loader(waited=4.0)).function('f', 'item', {2: [.01] * 50, 3: [.1] * 50})
    finding, = slow(evidence)                           # and not that all of them are too slow
    assert (finding.kind, finding.site) == ('uneven', 'DataLoader worker 1')
    assert finding.what.startswith('An item takes 100.0 ms in DataLoader worker 1, and 10.0 ms in the others')
    assert finding.figures == {'items of the slow one': 50, 'items': 100}
    few = Evidence(loader(waited=4.0)).function('f', 'item', {2: [.01] * 50, 3: [1.0] * 5})
    assert [finding.kind for finding in slow(few)] == ['loader']        # a few items are no measure
    assert slow(Evidence(loader()).function('f', 'item', {2: [.01] * 50, 3: [.1] * 50})) == []     # nobody waits


@pytest.mark.parametrize(('used', 'cpus', 'fix', 'advice'), [
    (1.0, 4, 'DataLoader(..., num_workers=3)', 'let workers fetch while the program computes'),
    (1.0, 1, '', 'there is one CPU for both: make the function cheaper, or store what it makes'),
    (0.1, 1, 'DataLoader(..., num_workers=8)', 'let workers fetch while the program computes')])
def test_a_program_that_fetches_its_items_itself(used: float, cpus: int, fix: str, advice: str) -> None:
    evidence = Evidence(loader(0, cpus=cpus, waited=9.0), cpus_used=used).function('f', 'item', {1: [.1] * 80}).function(
        'joined', 'collate_fn', {1: [.1] * 10})
    finding, = slow(evidence)
    assert finding.what == ('The program fetches the items of Samples itself, 9.00 s of 10.00 s, and nothing is computed '
                            'meanwhile: f (data.py:5) took 8.00 s in 80 calls')
    assert (finding.fix, finding.advice) == (fix, advice)


# ---------------------------------------------------------------- failures, from a trace
def value(number: Any) -> Any:
    return SimpleNamespace(shape=(), absent=False, value=number)


def raised(**more: Any) -> RecordedFact:
    return RecordedFact('torch worker error', 1, 0, LINE, {
        'worker': 1, 'type': 'KeyError', 'surfaced': 'KeyError', 'message': "'row'", 'function': '__getitem__', 'batch': 2,
        'items': '4, 5', 'count': 1, **more})


ERROR = SimpleNamespace(type='KeyError', message="'row'\nand more", frames=(
    Frame('data.py', 7, '__getitem__'), Frame('/lib/python3.11/site-packages/pandas/frame.py', 9, 'get')))


def test_an_exception_has_its_worker_item_line_and_where_the_program_got_it() -> None:
    evidence = Evidence(raised()).function('Samples.__getitem__', 'item', {3: [.1]}, inputs=(value(5),), error=ERROR)
    finding, = errors(evidence)
    assert (finding.kind, finding.site, finding.place) == ('worker error', 'Samples.__getitem__', Place('data.py', 7))
    assert finding.what == ("Samples.__getitem__ raised KeyError: 'row' in DataLoader worker 1 (process 300), for item 5; "
                            'the program got it as KeyError at train.py:12, in place of batch 2')
    assert finding.calls == ('3.0',)


def test_an_exception_that_only_calls_tell_of() -> None:
    evidence = Evidence().function('f', 'item', {1: [.1], 2: [.1, .1]}, inputs=(value(None),), error=ERROR)
    finding, = errors(evidence)
    assert finding.what == "f raised KeyError: 'row' in DataLoader worker 0 (process 200)"
    assert finding.figures == {'calls that raised': 2, 'calls': 3}       # the main process's own is no worker's
    many = Evidence().function('f', 'item', {2: [.1]}, inputs=tuple(map(value, range(10))), error=ERROR)
    assert 'for items 0, 1, 2, 3, 4, 5, 6, 7, ...' in errors(many)[0].what


def test_one_fault_in_workers_of_several_loaders_is_one_finding() -> None:
    evidence = Evidence().function('f', 'item', {2: [.1, .1]}, error=ERROR).function(
        'f', 'item', {3: [.1]}, Place('eval.py', 3), error=ERROR).function('f', 'item', {3: [.1] * 5}, Place('eval.py', 9))
    finding, = errors(evidence)
    assert finding.figures == {'calls that raised': 3, 'calls': 8}


def test_an_exception_of_which_there_is_no_call() -> None:
    message = 'stack expects each tensor to be equal size, but got [2] at entry 0 and [3] at entry 1'
    finding, other = errors(Evidence(
        raised(type='RuntimeError', surfaced='RuntimeError', message=message, function='collate_tensor_fn'),
        raised(type='OSError', surfaced='OSError', batch=-1, items='', message='', function='')))
    assert finding.what == (f'DataLoader worker 1 raised RuntimeError: {message}, in collate_tensor_fn; the program got it '
                            f'as RuntimeError at train.py:12, in place of batch 2 (items 4, 5)')
    assert finding.advice == 'give the DataLoader a collate_fn that pads or crops the items of a batch to one shape'
    assert other.what == 'DataLoader worker 1 raised OSError; the program got it as OSError at train.py:12'


def test_a_dead_worker_has_its_signal_and_its_last_call() -> None:
    death = RecordedFact('torch worker death', 1, 0, LINE, {'pid': 300, 'worker': 1, 'signal': 'SIGBUS', 'code': 0,
                                                            'message': 'RuntimeError: gone', 'count': 1})
    evidence = Evidence(death).function('f', 'item', {2: [.1] * 3, 3: [.1] * 2}, inputs=(value(4),))
    finding, = deaths(evidence)
    assert finding.what == ('DataLoader worker 1 (process 300) was killed by SIGBUS; the program got RuntimeError: gone. '
                            'The last call that it recorded: f of item 4')
    assert finding.calls == ('3.1',) and '/dev/shm' in finding.advice


def test_a_dead_worker_that_interrupts_the_program_elsewhere() -> None:
    """PyTorch raises in the handler of a signal, wherever the program is."""
    raised = 'RuntimeError: DataLoader worker (pid 300) is killed by signal: Segmentation fault'
    ended = RecordedFact('ended', 1, 0, Place('', 0), {'raised': raised})
    finding, = deaths(Evidence(loader(), ended))
    assert finding.place == LINE
    assert finding.what.startswith('DataLoader worker 1 (process 300) was killed by SIGSEGV; the program got RuntimeError')
    assert 'PYTHONFAULTHANDLER=1' in finding.advice
    assert deaths(Evidence(RecordedFact('ended', 1, 0, LINE, {'raised': 'ValueError: (pid 3)'}))) == []


# ---------------------------------------------------------------- failures, as the program meets them
def test_errors_and_deaths_are_noted_from_the_program_s_exceptions() -> None:
    failures = WorkerFailures()
    line = Frame('train.py', 12, 'main')
    text = ('Caught KeyError in DataLoader worker process 1.\nOriginal Traceback (most recent call last):\n'
            '  File "worker.py", line 3, in _worker_loop\n    data = fetch()\n  File "data.py", line 7, in row\n'
            "    raise KeyError\nKeyError: 'no such sample'\n")
    failures.note(KeyError(type('Message', (str,), {'__repr__': str.__str__})(text)), line, {}, 4, '8, 9')
    failures.note(RuntimeError('DataLoader worker (pid(s) 7, 8) exited unexpectedly'), line,
                  {7: (0, SimpleNamespace(_popen=SimpleNamespace(returncode=-9))),
                   8: (1, SimpleNamespace(_popen=SimpleNamespace(returncode=3)))}, 0, '')
    failures.note(RuntimeError('DataLoader worker (pid 9) is killed by signal: Bus error. It is possible'), line, {}, 0, '')
    failures.note(ValueError('the program\'s own'), line, {}, 0, '')
    failures.note(type('Odd', (Exception,), {'__str__': lambda self: 1 / 0})(), line, {}, 0, '')
    error, *deaths = failures.facts()
    assert error.data == {'worker': 1, 'type': 'KeyError', 'surfaced': 'KeyError', 'message': "'no such sample'",
                          'function': 'row', 'batch': 4, 'items': '8, 9', 'count': 1}
    assert [(fact.data['pid'], fact.data['worker'], fact.data['signal'], fact.data['code']) for fact in deaths] == [
        (7, 0, 'SIGKILL', 0), (8, 1, '', 3), (9, -1, 'SIGBUS', 0)]


def test_the_end_of_a_process_is_left_for_pytorch_to_see() -> None:
    child = subprocess.Popen([sys.executable, '-c', 'import time; time.sleep(100)'])
    try:
        os.kill(child.pid, signal.SIGKILL)
        os.waitid(os.P_PID, child.pid, os.WEXITED | os.WNOWAIT)
        failures = WorkerFailures()
        failures.note(RuntimeError(f'DataLoader worker (pid {child.pid}) exited'), Frame('a.py', 1, 'f'),
                      {child.pid: (0, SimpleNamespace(_popen=SimpleNamespace(returncode=None)))}, 0, '')
        fact, = failures.facts()
        assert fact.data['signal'] == 'SIGKILL'
        assert os.waitpid(child.pid, 0)[1] == signal.SIGKILL
    finally:
        child.returncode = 0
    assert signal_name('Terminated') == 'SIGTERM' and signal_name('Hiccup') == 'Hiccup'


# ---------------------------------------------------------------- with PyTorch
ODD = '''
from torch.utils.data import DataLoader, Dataset
class Odd(Exception):
    def __init__(self, one, two): super().__init__(one, two)    # PyTorch cannot make another one
class Numbers(Dataset):
    def __init__(self, error): self.error = error
    def __len__(self): return 8
    def __getitem__(self, index):
        if index == 5: raise self.error
        return index
for error in Odd(1, 2), StopIteration('row'):
    try:
        for batch in DataLoader(Numbers(error), 2, num_workers=1, multiprocessing_context='fork'): pass
    except RuntimeError as error:
        print(type(error).__name__)
'''


@pytest.mark.torch
def test_exceptions_that_come_as_others_or_end_the_loop(tmp_path: Path) -> None:
    (tmp_path / 'program.py').write_text(ODD)
    odd, stop = [finding.what for finding in diagnosed(tmp_path, tmp_path / 'program.py')]
    assert 'raised Odd: (1, 2) in DataLoader worker 0' in odd
    assert odd.endswith('; the program got it as RuntimeError at program.py:13, in place of batch 2')
    assert stop.endswith('; the program got it as StopIteration at program.py:13, in place of batch 2, which ended its loop '
                         'without an error')


FAILING = '''
import sys, torch
from torch.utils.data import DataLoader, Dataset
class Numbers(Dataset):
    def __len__(self): return 12
    def __getitem__(self, index):
        if index == 9: raise KeyError('no such sample')
        return torch.ones(3 if index == 5 else 2)
def summed(samples): return [sample.sum() for sample in samples]
if __name__ == '__main__':
    for collate in summed, None:
        try:
            for batch in DataLoader(Numbers(), 2, num_workers=2, collate_fn=collate, multiprocessing_context='METHOD'):
                assert batch is not None
        except Exception as error:
            print(type(error).__name__)
'''


@pytest.mark.torch
@pytest.mark.parametrize('method', ['fork', 'spawn'])
def test_exceptions_of_workers(tmp_path: Path, method: str) -> None:
    """Exceptions, and the fact about the loader: of one recording, for each process imports PyTorch."""
    (tmp_path / 'program.py').write_text(FAILING.replace('METHOD', method))
    found = [finding for finding in diagnosed(tmp_path, tmp_path / 'program.py') if finding.kind == 'worker error']
    first, second = found
    assert (first.place.line, first.site) == (7, 'Numbers.__getitem__')
    assert "raised KeyError: 'no such sample' in DataLoader worker 0 (process " in first.what
    assert first.what.endswith('for item 9; the program got it as KeyError at program.py:13, in place of batch 4')
    assert second.what.startswith('DataLoader worker 0 raised RuntimeError: stack expects each tensor to be equal size')
    assert second.what.endswith('in place of batch 2 (items 4, 5)') and second.place.line == 13
    with Trace.open(tmp_path / 'it.pfd') as trace:
        fact, = TraceEvidence(trace).facts_of_kind('torch loader')
    assert (fact.place.line, fact.text('dataset'), fact.data['forked']) == (13, 'Numbers', method == 'fork')
    assert {name: fact.number(name) for name in ('workers', 'passes', 'batches')} == {
        'workers': 2, 'passes': 2, 'batches': 4 + 2}        # each pass ends with an error in its next batch
    assert sorted(fact.data['pids'].values()) == [0, 0, 1, 1]
    times = [fact.number(name) for name in ('made', 'first', 'waited', 'span')]
    assert all(time > 0 for time in times) and sum(times[:3]) <= times[3]


DYING = '''
import os, signal, time, torch
from torch.utils.data import DataLoader, Dataset
class Numbers(Dataset):
    def __len__(self): return 12
    def __getitem__(self, index):
        if index == 9:
            time.sleep(.5)                          # the earlier batches have come
            END
        return index
for batch in DataLoader(Numbers(), batch_size=2, num_workers=2, multiprocessing_context='fork'):
    pass
'''


@pytest.mark.torch
@pytest.mark.parametrize(('end', 'how'), [('os.kill(os.getpid(), signal.SIGKILL)', 'was killed by SIGKILL'),
                                          ('os._exit(3)', 'ended with exit code 3')])
def test_workers_that_die(tmp_path: Path, end: str, how: str) -> None:
    (tmp_path / 'program.py').write_text(DYING.replace('END', end))
    finding, = diagnosed(tmp_path, tmp_path / 'program.py', returncode=1)
    assert (finding.kind, finding.site, finding.place.line) == ('worker death', 'DataLoader worker 0', 11)
    assert f') {how}; the program got DataLoader worker (pid' in finding.what


SLOW = '''
import time, torch
from torch.utils.data import DataLoader, Dataset, get_worker_info
class Slow(Dataset):
    def __len__(self): return 80
    def __getitem__(self, index):
        time.sleep(.02)
        return index
class Uneven(Slow):
    def __getitem__(self, index):
        if get_worker_info().id: time.sleep(.05)
        return index
for batch in DataLoader(Slow(), batch_size=4): pass
for batch in DataLoader(Slow(), batch_size=4, num_workers=1): pass
for batch in DataLoader(Uneven(), batch_size=4, num_workers=2): pass
'''


@pytest.mark.torch
def test_loaders_that_the_program_waits_for(tmp_path: Path) -> None:
    (tmp_path / 'program.py').write_text(SLOW)
    found = diagnosed(tmp_path, tmp_path / 'program.py')
    assert [(finding.kind, finding.place.line, finding.site) for finding in found] == [
        ('loader', 13, 'Slow'), ('loader', 14, 'Slow'), ('uneven', 15, 'DataLoader worker 1')]
    assert [finding.figures['batches'] for finding in found[:2]] == [20, 20]
    assert all('Slow.__getitem__ (program.py:6) took ' in finding.what for finding in found[:2])


PLAIN = '''
import sys, traceback, torch
from torch.utils.data import DataLoader, Dataset
class Numbers(Dataset):
    def __len__(self): return 4
    def __getitem__(self, index): return 1 // (index - 2)
class Sampler:
    def __len__(self): return 4
    def __iter__(self): yield 0; raise ValueError('sampler')
for options in {}, dict(num_workers=1), dict(sampler=Sampler()), dict(sampler=Sampler(), num_workers=1):
    try:
        for batch in DataLoader(Numbers(), **options): print(batch)
    except Exception as error:
        print(type(error).__mro__, traceback.format_exc())
iterator = iter(DataLoader(Numbers(), num_workers=1, persistent_workers=True))
print(next(iterator), next(iterator), len(iterator))
'''


@pytest.mark.torch
def test_the_examined_program_sees_nothing_of_it(tmp_path: Path) -> None:
    (tmp_path / 'program.py').write_text(PLAIN)
    plain = subprocess.run([sys.executable, 'program.py'], capture_output=True, text=True, cwd=tmp_path, check=True,
                           timeout=100)
    done = run_command('doctor', 'program.py', cwd=tmp_path)
    assert plain.stdout.count('ValueError: sampler') == 2
    assert done.stdout.replace(str(tmp_path) + '/', '') == plain.stdout.replace(str(tmp_path) + '/', '')


FAULTY_WORKERS = '''
import torch
from torch.utils.data import DataLoader, Dataset

@torch.library.custom_op('faulty_workers::twice', mutates_args=())
def twice(x: torch.Tensor) -> torch.Tensor:
    return x * 2

lib = torch.library.Library('faulty_worker_views', 'DEF')
lib.define('view(Tensor x) -> Tensor')
def view(x):
    return x.view(-1)
lib.impl('view', view, 'CPU')
torch.library.register_fake('faulty_worker_views::view', lambda x: torch.empty_like(x))

class Root(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        ctx.x = x
        return x * 2
    @staticmethod
    def backward(ctx, g):
        return g

class Rows(Dataset):
    def __len__(self):
        return 8
    def __getitem__(self, index):
        torch.ops.faulty_worker_views.view(twice(torch.ones(2)))
        return Root.apply(torch.ones(2, requires_grad=True)).detach()

if __name__ == '__main__':
    Root.apply(torch.ones(1, requires_grad=True))
    for method in 'fork', 'spawn', 'forkserver', None:
        for _ in DataLoader(Rows(), batch_size=4, num_workers=2 if method else 0, multiprocessing_context=method): pass
'''


@pytest.mark.torch
def test_what_workers_and_the_main_process_do_is_one_finding_each(tmp_path: Path) -> None:
    """Workers of each start method; in those that start afresh the ops are there before PyTorch is attached."""
    torch = pytest.importorskip('torch')
    seen = 4 if hasattr(torch.library, 'get_kernel') else 2     # before 2.9 what was registered earlier is not
    program = tmp_path / 'program.py'
    program.write_text(FAULTY_WORKERS)
    findings = [finding for finding in diagnosed(tmp_path, program) if finding.kind in ('no fake', 'alias', 'kept')]
    assert sorted(finding.kind for finding in findings) == ['alias', 'kept', 'no fake']
    assert {finding.kind: finding.figures['calls'] for finding in findings if finding.kind != 'no fake'} == {
        'alias': seen * 8, 'kept': 1 + 4 * 8}

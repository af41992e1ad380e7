"""Calls that a DataLoader makes: items, collation and initializers, in the main process and in workers of every kind."""
from __future__ import annotations

import pickle
import subprocess
import sys
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from seen_calls import Seen
from torch_programs import PROGRAMS, Record, plain_output

import pyfuncdbg
from pyfuncdbg.observers.record.recorder import Recorder
from pyfuncdbg.observers.record.trace import Trace

pytestmark = pytest.mark.torch


@pytest.fixture
def loader(torch: Any) -> Callable[..., Any]:
    """Makes a DataLoader of a list of samples."""
    class Samples(torch.utils.data.Dataset):
        def __init__(self, samples: list[Any]) -> None:
            self.samples = samples

        def __len__(self) -> int:
            return len(self.samples)

        def __getitem__(self, index: int) -> Any:
            return self.samples[index]
    return lambda samples, **options: torch.utils.data.DataLoader(Samples(samples), **options)


def test_each_item_and_batch_is_a_call_at_the_line_that_takes_it(torch: Any, seen: Seen, loader: Callable[..., Any]) -> None:
    def joined(samples: Any) -> Any:
        return torch.stack([x for x, _ in samples])
    batches = list(loader([(torch.tensor(i), i * 10) for i in range(3)], batch_size=2, collate_fn=joined))
    assert [batch.tolist() for batch in batches] == [[0, 1], [2]]
    item = 'Samples.__getitem__'
    assert seen.names == [item, item, 'joined', item, 'joined']
    assert [call.site.op_type for call in seen.calls[1:3]] == ['DataLoader.item', 'DataLoader.collate_fn']
    assert {call.site.stack[-1].function for call in seen.calls} == {
        'test_each_item_and_batch_is_a_call_at_the_line_that_takes_it'}
    assert [value.tolist() for value in seen.inputs[1]] == [1]
    assert [value.tolist() for value in seen.outputs[1]] == [1, 10]
    batch = seen.calls[2]
    assert list(batch.site.inputs) == ['samples[0][0]', 'samples[0][1]', 'samples[1][0]', 'samples[1][1]']
    assert [value.tolist() for value in seen.inputs[2]] == [0, 0, 1, 10]
    assert seen.calls[4].site.id == batch.site.id       # a smaller batch is of the same place
    assert list(seen.calls[4].site.inputs) == ['samples[0][0]', 'samples[0][1]']


def test_values_within_samples_and_batches_are_outputs(torch: Any, loader: Callable[..., Any], tmp_path: Path) -> None:
    sample = {'x': torch.tensor([1.0, float('nan')]), 'more': [(torch.tensor(2), None)], 'tokens': [5, 6], 'id': 7}
    many = {'x': [torch.tensor(i) for i in range(100)]}
    batches = []
    with pyfuncdbg.attach('torch'), Recorder(tmp_path / 'a.pfd'):
        batches += loader([sample], batch_size=None, collate_fn=lambda sample: sample)
        batches += loader([[many, sample]], batch_size=1, collate_fn=lambda samples: [samples[0]])
    assert batches[0] is sample                         # untouched, with its own containers
    assert batches[1][0][0] is many
    with Trace.open(tmp_path / 'a.pfd') as trace:
        first, same, item, batch = trace.calls()
        for call in first, same:
            assert [value.dtype for value in call.outputs] == ['float32', 'int64', 'object', 'object', 'int64']
            assert [value.absent for value in call.outputs] == [False, False, True, False, False]
        assert [first.outputs[0].stats.nan, first.outputs[4].to_numpy().tolist()] == [1, 7]
        assert [len(item.outputs), len(batch.outputs)] == [2, 1]        # more than 64 values: the elements of the list


def test_a_changed_value_within_a_sample_is_given_on_in_its_containers(torch: Any, seen: Seen,
                                                                       loader: Callable[..., Any]) -> None:
    seen.change = lambda call, proceed: [*list(proceed())[:-1], torch.tensor(9)]
    samples = {'x': torch.tensor(1), 'more': [(torch.tensor(2),)]}, [torch.tensor(1)], (torch.tensor(1), 2)
    first, second, third = loader(samples, batch_size=None, collate_fn=lambda sample: sample)
    assert first == {'x': 1, 'more': [(9,)]}
    assert second == [9]
    assert third == (1, 9)


def test_a_batch_of_very_many_values_is_one_input(torch: Any, seen: Seen, loader: Callable[..., Any]) -> None:
    list(loader([(i, i) for i in range(600)], batch_size=600, collate_fn=lambda samples: len(samples)))
    assert len(seen.calls[-1].inputs) == 1


def test_a_function_gets_the_program_s_own_containers(torch: Any, seen: Seen, loader: Callable[..., Any]) -> None:
    samples = [{'x': 1}, {'x': 2}]
    list(loader(samples, batch_size=2, collate_fn=lambda batch: [sample.pop('x') for sample in batch]))
    assert samples == [{}, {}]


def test_what_a_hook_gives_is_the_item(torch: Any, seen: Seen, loader: Callable[..., Any]) -> None:
    seen.change = lambda call, proceed: [torch.tensor(7)] if call.inputs[0] == 1 else proceed()
    assert [batch.tolist() for batch in loader([torch.tensor(i) for i in range(3)], batch_size=3)] == [[0, 7, 2]]


def test_items_that_a_recorder_alone_sees_are_fetched_once(torch: Any, loader: Callable[..., Any], tmp_path: Path) -> None:
    fetched = []

    class Odd(torch.utils.data.Dataset):
        def __len__(self) -> int:
            return 3

        def __getitem__(self, index: int) -> Any:
            fetched.append(index)
            if index == 2:
                raise KeyError('no such row')
            return NotImplemented if index else (torch.ones(2), 'text')
    with pyfuncdbg.attach('torch'), Recorder(tmp_path / 'a.pfd'), pytest.raises(KeyError, match='no such row') as raised:
        list(torch.utils.data.DataLoader(Odd(), batch_size=None))
    assert fetched == [0, 1, 2]
    assert not [entry for entry in raised.traceback if 'pyfuncdbg' in str(entry.path) and 'tests' not in str(entry.path)]
    with Trace.open(tmp_path / 'a.pfd') as trace:
        calls = trace.calls()
        assert [[value.to_numpy().tolist() for value in call.inputs] for call in calls] == [[0], [1], [2]]
        assert [call.error.type if call.error else None for call in calls] == [None, None, 'KeyError']
        assert calls[0].outputs[1].to_numpy().tolist() == b'text'
        assert {call.site.stack[-1].function for call in calls} == {
            'test_items_that_a_recorder_alone_sees_are_fetched_once'}


def test_the_program_gets_what_it_gets_without_us(record: Record, tmp_path: Path) -> None:
    plain = subprocess.run([sys.executable, PROGRAMS / 'torch_datasets.py', 'fork'], capture_output=True, text=True,
                           check=True, cwd=tmp_path, timeout=100)
    recorded = record('torch_datasets.py', args=('fork',))
    assert recorded.out == plain.stdout
    assert 'bad record 5' in plain.stdout               # with the traceback of the worker
    calls = [call for call in recorded.trace.calls(limit=1000) if call.process == recorded.trace.calls()[0].process]
    names = Counter(call.site.name for call in calls)
    # Batches of 5, 3 and 8 items; all of 2. An iterator is asked once more at its end, as the one that raises.
    assert names == {'Pairs.__getitem__': 5 + 3 + 8 + 2, 'keep': 3 + 2 + 2, 'Many.__getitems__': 3,
                     'Stream.__iter__': 5 + 6, 'Countdown.__next__': 4}
    assert [call.site.name for call in calls if call.error] == ['Stream.__iter__']


@pytest.mark.parametrize('method', ['none', 'fork', 'forkserver', 'spawn'])
def test_workers_of_every_start_method(record: Record, method: str) -> None:
    recorded = record('torch_loader.py', args=(method,))
    assert recorded.out.splitlines() == [line for line in plain_output('torch_loader.py').splitlines()
                                         if line.startswith(f'{method} ')]
    calls = recorded.trace.calls(limit=100)
    assert Counter((call.site.name, call.error.message if call.error else '') for call in calls) == {
        ('Numbers.__getitem__', ''): 5, ('Numbers.__getitem__', "'no such sample'"): 1, ('joined', ''): 2}
    assert len({call.process for call in calls}) == (1 if method == 'none' else 2)
    assert len(recorded.trace.info().processes) == (1 if method == 'none' else 3)
    labels = {recorded.trace.run(call.run, int(call.number.rpartition('.')[0] or 1)).label for call in calls}
    assert labels == ({'eager code of MainThread'} if method == 'none' else {'DataLoader worker 0', 'DataLoader worker 1'})


def test_a_killed_worker_leaves_its_calls(record: Record) -> None:
    recorded = record('''
import os, signal, torch
from torch.utils.data import DataLoader, Dataset
class Numbers(Dataset):
    def __len__(self): return 6
    def __getitem__(self, index):
        if index == 4: os.kill(os.getpid(), signal.SIGKILL)
        return index
try:
    print([batch for batch in DataLoader(Numbers(), batch_size=None, num_workers=1, multiprocessing_context='fork')])
except RuntimeError as error:
    print('exited unexpectedly' in str(error))
''')
    assert recorded.out == 'True\n'
    calls = recorded.trace.calls(limit=100)
    assert [call.inputs[0].to_numpy().tolist() for call in calls][:1] == [0]
    assert not any(call.error for call in calls)


def test_a_worker_that_cannot_import_us_works_unwatched(torch: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch,
                                                         capfd: pytest.CaptureFixture[str]) -> None:
    from torch.utils.data._utils import worker
    original = worker._worker_loop
    with pyfuncdbg.attach('torch'), Recorder(tmp_path / 'a.pfd'):
        assert b'pyfuncdbg' in pickle.dumps(worker._worker_loop)
        assert capfd.readouterr().err == ''
        monkeypatch.setattr(sys, 'path', [str(tmp_path)])
        pickled = pickle.dumps(worker._worker_loop)
    assert b'pyfuncdbg' not in pickled
    assert pickle.loads(pickled) is original
    assert 'workers that start afresh are not watched: pyfuncdbg is not on sys.path there' in capfd.readouterr().err

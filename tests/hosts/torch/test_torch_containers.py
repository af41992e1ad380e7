"""Mappings, named tuples and other containers of a program's own types: their values are inputs and outputs."""
from __future__ import annotations

from collections import Counter, OrderedDict, UserDict, defaultdict, namedtuple
from collections.abc import Iterator
from pathlib import Path
from typing import Any, ClassVar

import pytest
from torch_programs import run_command

from pyfuncdbg.hosts.torch.python_calls.nested_arguments import flatten
from pyfuncdbg.hosts.torch.python_calls.nested_results import fold, unfold
from pyfuncdbg.observers.record.trace import Trace

pytestmark = pytest.mark.torch

Pair = namedtuple('Pair', 'left right')


class Answer(OrderedDict[str, Any]):
    """As the results of models of Hugging Face: its elements are attributes, too, and it can be indexed by numbers."""

    def __init__(self, **elements: Any) -> None:
        super().__init__()
        self.state = None
        for name, value in elements.items():
            self[name] = value

    def __setitem__(self, name: str, value: Any) -> None:
        super().__setitem__(name, value)
        object.__setattr__(self, name, value)


class Batch(UserDict[str, Any]):
    """As the batches of Hugging Face."""


class Shy(dict[str, Any]):
    """A dict that counts how often its methods are called."""

    called: ClassVar[Counter[str]] = Counter()

    def items(self) -> Any:
        self.called['items'] += 1
        return super().items()

    def __iter__(self) -> Iterator[str]:
        self.called['iter'] += 1
        return super().__iter__()

    def __getitem__(self, name: str) -> Any:
        self.called['getitem'] += 1
        return super().__getitem__(name)


class Row(tuple[Any, ...]):
    def __new__(cls, *parts: Any) -> Row:
        return super().__new__(cls, parts)

    def __iter__(self) -> Iterator[Any]:
        Shy.called['row'] += 1
        return super().__iter__()


class Rows(list[Any]):
    pass


class Slotted(dict[str, Any]):
    __slots__ = ('more',)


def counting() -> defaultdict[str, Any]:
    found: defaultdict[str, Any] = defaultdict(list)
    found['a'], found['b'] = object(), 2
    return found


def batch() -> Batch:
    made = Batch({'a': object(), 'b': 2})
    made.encodings = [object()]                 # type: ignore[attr-defined]
    return made


RESULTS = {'named tuple': lambda: Pair(object(), 2), 'model output': lambda: Answer(a=object(), b=2), 'batch': batch,
           'dict': lambda: Shy(a=object(), b=2), 'tuple': lambda: Row(object(), 2), 'list': lambda: Rows((object(), 2)),
           'default': counting, 'nested': lambda: Pair(Shy(a=object()), Rows([object()])),
           'torch': lambda: __import__('torch').ones(2, 2).max(0)}


@pytest.mark.parametrize('name', RESULTS)
def test_what_a_hook_changes_is_in_a_container_of_the_same_type(name: str) -> None:
    result: Any = RESULTS[name]()
    Shy.called.clear()
    new = object()
    outputs = unfold(result)
    assert outputs.raw is result
    assert len(outputs) == 2
    changed = fold([outputs[0], new], result)
    assert not Shy.called                       # no method of the program's
    assert type(changed) is type(result)
    assert changed is not result
    again = unfold(changed)
    assert again[0] is outputs[0]
    assert again[1] is new
    assert unfold(result)[1] is outputs[1]      # its own is as it was
    if name == 'model output':
        assert (changed.b, changed['b'], result.b, changed.state) == (new, new, 2, None)
        assert list(changed) == ['a', 'b']
    if name == 'batch':
        assert changed.encodings is result.encodings
    if name == 'default':
        assert changed['missing'] == []
    if name == 'nested':
        assert (type(changed.left), type(changed.right)) == (Shy, Rows)


def test_a_container_that_has_more_than_can_be_copied_is_one_output() -> None:
    result = Slotted(a=1)
    assert list(unfold(result)) == [result]
    assert fold(['other'], result) == 'other'
    assert [list(unfold(None)), list(unfold({})), list(unfold((1, 2)))] == [[], [], [1, 2]]


def test_arguments_of_the_program_s_types_are_inputs_and_made_again_of_others() -> None:
    first, second = object(), object()
    args = Pair(first, [3]), Answer(a=second, b=2), Batch(x=first), Row(4)
    layout, inputs = flatten(args, {'more': Shy(k=5)}, ['pair', 'answer', 'batch', 'row'])
    assert layout is not None
    assert layout.names == ('pair[0]', 'pair[1][0]', "answer['a']", "answer['b']", "batch['x']", 'row[0]', "more['k']")
    assert inputs == [first, 3, second, 2, first, 4, 5]
    again, keywords = layout.arguments([first, 'new', second, 'b', first, 4, 5])
    assert [type(value) for value in again] == [Pair, Answer, Batch, Row]
    assert again[0] == Pair(first, ['new'])
    assert (again[1].a, again[1].b, again[1]['b'], again[1].state) == (second, 'b', 'b', None)
    assert type(keywords['more']) is Shy
    assert layout.form() is None                # a trace has no types of the program
    plain, _ = flatten([[1]], {}, ['x'])
    assert plain is not None
    assert plain.form() is not None


def test_arguments_that_cannot_be_made_again_are_inputs_themselves() -> None:
    values = [batch(), counting(), Slotted(a=1)]
    layout, inputs = flatten(values, {}, ['a', 'b', 'c'])
    assert all(one is other for one, other in zip(inputs, values, strict=True))
    assert layout is None or layout.arguments(inputs)[0] == tuple(values)


PROGRAM = '''
from collections import OrderedDict, namedtuple
import torch
from torch.utils.data import DataLoader

class Output(OrderedDict):
    def __setitem__(self, name, value):
        super().__setitem__(name, value)
        object.__setattr__(self, name, value)

Sample = namedtuple('Sample', 'image label')

class Samples:
    def __len__(self):
        return 2
    def __getitem__(self, index):
        return Sample(torch.full((2,), float(index)), index)

class Net(torch.nn.Module):
    def forward(self, sample):
        found = Output()
        found['loss'] = sample.image.sum() / 0
        return found

for batch in DataLoader(Samples(), batch_size=2):
    print(type(batch).__name__, batch.image.tolist(), Net()(batch).loss.item())
'''


def test_named_tuples_and_mappings_are_shown_and_changed_at_a_stop(tmp_path: Path) -> None:
    (tmp_path / 'program.py').write_text(PROGRAM)
    done = run_command('run', '--break', '*getitem*', '--if', 'out.max() < 1', '--ui', 'prompt', 'program.py', cwd=tmp_path,
                       typed='inject out0 torch.tensor([5., 6.])\nc\n')
    assert done.stdout == 'Sample [[5.0, 6.0], [1.0, 1.0]] inf\n', done.stderr
    with Trace.open(tmp_path / 'program.pfd') as trace:
        items = [[(value.dtype, value.shape) for value in call.outputs] for call in trace.calls()]
        assert items == 2 * [[('float32', (2,)), ('int64', ())]]
        run, = [run for run in trace.runs() if run.label == 'Net']
        assert [(value.name, value.shape) for value in run.feeds] == [('sample[0]', (2, 2)), ('sample[1]', (2,))]
        assert [value.stats.pos_inf for value in run.fetches] == [1]

"""Backward passes: runs with a gradient call for each node, with links to the steps before it and to the forward calls."""
from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from torch_programs import Record

import pyfuncdbg
from pyfuncdbg.hooks.call import Call, Frame
from pyfuncdbg.hooks.chain import Outputs, hooks
from pyfuncdbg.hosts.torch.tapes.forward_notes import ForwardNotes
from pyfuncdbg.observers.debug.numerics.nan_verdicts import judge
from pyfuncdbg.observers.debug.reports.site_labels import labels_by_site
from pyfuncdbg.observers.record.recorder import Recorder

pytestmark = pytest.mark.torch


class Gradients:
    """A hook that keeps gradient calls, and gives what `change` makes of them."""

    kinds = frozenset(('gradient',))

    def __init__(self) -> None:
        self.calls: list[Call] = []
        self.change: Any = None

    def around(self, call: Call, proceed: Any) -> Outputs:
        self.calls.append(call)
        return proceed() if self.change is None else self.change(call, proceed)  # type: ignore[no-any-return]


@pytest.fixture
def gradients(torch: Any) -> Any:
    hook = Gradients()
    with pyfuncdbg.attach('torch'):
        hooks.add(hook)
        try:
            yield hook
        finally:
            hooks.remove(hook)


def test_steps_are_linked_by_their_slots(torch: Any, gradients: Gradients) -> None:
    x = torch.tensor([2.0, 3.0], requires_grad=True)
    y = x * x
    (y.sum() + y[0]).backward()
    by_id = {call.id: call for call in gradients.calls}
    last = gradients.calls[-1]
    assert last.site.attrs['source'] is True
    assert [(by_id[source].site.op_type, slot) for source, slot in zip(last.sources, last.site.attrs['slots'],
                                                                       strict=True)] == [('Mul', 0), ('Mul', 1)]
    product = next(call for call in gradients.calls if call.site.op_type == 'Mul')
    assert sorted(by_id[source].site.op_type for source in product.sources) == ['Select', 'Sum']
    assert x.grad.tolist() == [8.0, 6.0]


def test_a_gradient_that_a_hook_changes_goes_on(torch: Any, gradients: Gradients) -> None:
    def change(call: Call, proceed: Any) -> Any:
        outputs = proceed()
        return [torch.full((2,), 7.0), *outputs[1:]] if call.site.op_type == 'Exp' else outputs
    gradients.change = change
    x = torch.tensor([2.0, 3.0], requires_grad=True)
    x.exp().sum().backward()
    assert x.grad.tolist() == [7.0, 7.0]


def test_a_step_is_computed_again_with_a_changed_input(torch: Any, gradients: Gradients) -> None:
    def change(call: Call, proceed: Any) -> Any:
        if call.site.op_type == 'Mul':
            call.inputs[0] = torch.full((2,), 10.0)
        return proceed()
    gradients.change = change
    x = torch.tensor([2.0, 3.0], requires_grad=True)
    (x * 3).sum().backward()
    assert x.grad.tolist() == [30.0, 30.0]


def test_a_pass_leaves_no_hook_in_a_graph_that_is_kept(torch: Any, gradients: Gradients) -> None:
    x = torch.tensor([2.0], requires_grad=True)
    y = (x * 3).sum()
    y.backward(retain_graph=True)
    first = len(gradients.calls)
    pyfuncdbg.detach('torch')
    y.backward()
    assert len(gradients.calls) == first == 3
    assert x.grad.tolist() == [6.0]


def test_sources_of_grad_have_names_and_flows(torch: Any, gradients: Gradients) -> None:
    x = torch.tensor([2.0], requires_grad=True)
    y = x * 3
    dx, dy = torch.autograd.grad(y * y, [x, y])
    assert (dx.tolist(), dy.tolist()) == ([36.0], [12.0])
    source_x, source_y = [call for call in gradients.calls if call.site.attrs.get('source')]
    by_id = {call.id: call.site.op_type for call in gradients.calls}
    assert [by_id[source] for source in source_x.sources] == ['Mul']
    assert [by_id[source] for source in source_y.sources] == ['Mul', 'Mul']
    assert source_x.run.fetches == ('tensor [1]', 'tensor [1]')


def test_three_passes_and_the_names_of_leaves(recorded_program: Record) -> None:
    trace = recorded_program('torch_tape.py').trace
    runs = [run for run in trace.runs() if run.kind == 'backward']
    assert [run.label for run in runs] == ['backward', 'autograd.grad', 'backward']
    sources = [call.site.attrs['forward'] for call in trace.calls(kind='gradient') if call.site.attrs.get('source')
               and call.outputs and not call.outputs[0].absent]
    assert sources == ['a', 'x', 'x']
    squares = [call for call in trace.calls(kind='gradient') if call.site.op_type == 'autograd.Function']
    assert [trace.call(call.forward).site.name for call in squares] == ['Square', 'Square']


def test_reasons_of_missing_gradients_with_their_lines(recorded_program: Record) -> None:
    trace = recorded_program('torch_tape.py').trace
    reasons = {call.site.attrs['forward']: call.site.attrs['dead'] for call in trace.calls(kind='gradient')
               if 'dead' in call.site.attrs}
    assert reasons == {
        'b': 'detach() (torch_tape.py:13) cuts it off',
        'c': '.data (torch_tape.py:13) cuts it off',
        'd': 'mul (torch_tape.py:14) computes with it under torch.no_grad or inference_mode, which record nothing',
        'e': 'detach() (torch_tape.py:15) cuts it off, then its elements go to NumPy',
        'f': 'argmax (torch_tape.py:16) makes int64 of it: whole numbers and bools have no gradient',
        'g': 'not used: what is computed of it by mul (torch_tape.py:18) does not lead to the target',
        'h': 'requires_grad is False'}


def test_steps_have_the_lines_of_their_operations(recorded_program: Record) -> None:
    trace = recorded_program('torch_tape.py').trace
    lines = [(call.site.op_type, call.site.stack[-1].line) for call in trace.calls(kind='gradient', run=2)
             if not call.site.attrs.get('source')]
    assert lines[:2] == [('Add', 17), ('Sum', 17)]
    assert ('Mul', 13) in lines and ('autograd.Function', 17) in lines


def test_the_mode_ends_with_the_last_hook_and_below_a_mode_of_the_program(torch: Any) -> None:
    from torch.overrides import TorchFunctionMode, _get_current_function_mode_stack

    class Own(TorchFunctionMode):
        def __torch_function__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
            return func(*args, **(kwargs or {}))
    with pyfuncdbg.attach('torch'):
        assert _get_current_function_mode_stack() == []
        with pyfuncdbg.record():
            assert len(_get_current_function_mode_stack()) == 1
            own = Own()
            own.__enter__()
        assert _get_current_function_mode_stack() == [own]
        own.__exit__(None, None, None)
    assert _get_current_function_mode_stack() == []


def test_a_method_that_the_program_replaces_is_called_once(torch: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    seen = []

    def around(name: str) -> None:
        original = getattr(torch.Tensor, name)

        def called(tensor: Any, *args: Any) -> Any:
            seen.append(name)
            return original(tensor, *args)
        monkeypatch.setattr(torch.Tensor, name, called)
    with pyfuncdbg.attach('torch'), pyfuncdbg.record():
        for name in ('item', '__rsub__', 'register_hook', 'backward'):
            around(name)
        x = torch.ones(1, requires_grad=True)
        x.register_hook(lambda g: None)
        (1 - x).backward()
        x.detach().item()
        monkeypatch.undo()
    assert seen == ['register_hook', '__rsub__', 'backward', 'item']


def test_lines_of_earlier_passes_are_forgotten() -> None:
    notes, line = ForwardNotes(), Frame('train.py', 7, 'train')
    for step in range(3000):
        for number in range(3):
            notes.note_nodes(4 * step + number, 4 * step + number + 1, line._replace(line=step))
        notes.end_epoch()
    assert len(notes._starts) <= (1 << 12) + 3
    found, missing = notes.line_of(4 * 2999 + 1), notes.line_of(4 * 2999 + 3)
    assert found == line._replace(line=2999) and missing is None
    assert notes.line_of(0) is None


def test_check_finds_the_backward_that_is_wrong(tmp_path: Any) -> None:
    from torch_programs import PROGRAMS, run_command
    done = run_command('run', '--break', 'torch_check.py:16', '--ui', 'prompt', str(PROGRAMS / 'torch_check.py'),
                       cwd=tmp_path, typed='check\nc\n')
    lines = [line for line in done.stderr.splitlines() if 'BAD' in line or ' OK' in line]
    assert any('Cube' in line and 'BAD' in line for line in lines), done.stderr
    assert any('Sine' in line and 'OK' in line for line in lines), done.stderr


WRONG_OP = '''
import torch
@torch.library.custom_op('ours::cube', mutates_args=())
def cube(x: torch.Tensor) -> torch.Tensor:
    return x ** 3
def keep(ctx, inputs, output):
    ctx.save_for_backward(*inputs)
def back(ctx, g):
    x, = ctx.saved_tensors
    return g * 3 * x
cube.register_autograd(back, setup_context=keep)
x = torch.tensor([1.0, 2.0], requires_grad=True)
cube(x).sum().backward()
print(x.grad.tolist())
'''


def test_check_finds_the_wrong_backward_of_a_custom_op(tmp_path: Path) -> None:
    from torch_programs import run_command
    (tmp_path / 'program.py').write_text(WRONG_OP)
    done = run_command('run', '--break', 'program.py:14', '--ui', 'prompt', 'program.py', cwd=tmp_path, typed='check\nc\n')
    assert done.stdout == '[3.0, 6.0]\n'
    row, = [line for line in done.stderr.splitlines() if 'ours::cube' in line]
    assert 'BAD' in row and 'at [1] got 6, expected 12' in row, done.stderr


def test_a_tensor_is_printed_under_our_mode(torch: Any, tmp_path: Path) -> None:
    with pyfuncdbg.attach('torch'), Recorder(tmp_path / 'a.pfd'):
        assert repr(torch.tensor([1.0, 2.0])) == 'tensor([1., 2.])'


def test_leaves_have_the_names_of_their_optimizer(record: Record) -> None:
    recorded = record('''
import torch
def optimizers():
    ones = lambda n: torch.ones(n, requires_grad=True)
    return torch.optim.SGD([{'params': [ones(3), ones(2)]}, {'params': [ones(4)]}], lr=.1), torch.optim.Adam([ones(5)])
both = optimizers()
for step in range(2):
    sum(p.sum() for one in both for group in one.param_groups for p in group['params']).backward()
torch.ones(6, requires_grad=True).sum().backward()
''')
    names = {call.site.name for call in recorded.trace.calls(kind='gradient')}
    assert {name.removesuffix('_grad') for name in names if '[' in name} == {
        'SGD.group[0].params[0]', 'SGD.group[0].params[1]', 'SGD.group[1].params[0]', 'Adam.params[0]', 'tensor [6]'}


def test_parameters_that_only_an_optimizer_has_are_reported_without_a_gradient(record: Record) -> None:
    recorded = record('''
import torch
def optimizer():
    one, two = torch.nn.Linear(2, 2), torch.nn.Linear(2, 1)
    plain = torch.nn.Parameter(torch.ones(2))
    return torch.optim.SGD([*one.parameters(), *two.parameters(), plain], .1), one, two, plain
q = torch.nn.Parameter(torch.ones(2))
first, one, two, plain = optimizer()
second, other = torch.optim.Adam([q]), torch.optim.Adam([torch.nn.Parameter(torch.ones(3))])
first.add_param_group({'params': [q, torch.zeros(2, requires_grad=True)]})
for step in range(2):
    hidden = one(q.detach() * plain)
    two(hidden.detach()).sum().backward()
late = torch.nn.Parameter(torch.ones(2)), torch.nn.Parameter(torch.ones(4))
third = torch.optim.SGD(late)
late[0].sum().backward()
''')
    dead = {(call.run, call.site.attrs['forward']): call.site.attrs['dead'] for call in recorded.trace.calls(kind='gradient')
            if 'dead' in call.site.attrs}
    passes = [run.id for run in recorded.trace.runs() if run.label == 'backward']
    cut = 'detach() (program.py:13) cuts it off; what is computed of it by {} (program.py:12) does not lead to the target'
    unused = 'not used: no operation has taken it since the last backward pass'
    of_a_step = {'SGD.group[0].params[0]': cut.format('linear'), 'SGD.group[0].params[1]': cut.format('linear'),
                 'plain': cut.format('mul'), 'q': 'detach() (program.py:12) cuts it off', 'SGD.group[1].params[1]': unused}
    assert {name: reason for (run, name), reason in dead.items() if run == passes[0]} == of_a_step
    assert {name: reason for (run, name), reason in dead.items() if run == passes[1]} == of_a_step
    assert {name: reason for (run, name), reason in dead.items() if run == passes[2]} == {'SGD.params[1]': unused}


def test_each_gradient_that_one_line_cuts_off_has_that_line_as_its_reason(record: Record) -> None:
    recorded = record('''
import torch
from torch import nn
net = nn.ParameterDict({name: nn.Parameter(torch.ones(2)) for name in 'abcdef'})
def cut(t):
    return t.detach()
state = torch.ones(2)
for step in range(2):
    left, right = (net.a * 2).detach(), (net.b * 2).detach()
    for _ in range(40):                         # much more than a bounded number of searches
        state = cut(state * net.c)
    both = torch.cat([cut(net.d * 2 * state), cut(net.e * 2 * state)])
    (net.f * (left + right)).sum().backward()
''')
    passes = [run.id for run in recorded.trace.runs() if run.kind == 'backward']
    dead = {(call.run, call.site.attrs['forward']): str(call.site.attrs['dead']).partition(' cuts')[0]
            for call in recorded.trace.calls(kind='gradient') if 'dead' in call.site.attrs}
    lines = dict.fromkeys('ab', 'detach() (program.py:9)') | dict.fromkeys('cde', 'detach() (program.py:6)')
    assert dead == {(run, name): reason for run in passes for name, reason in lines.items()}


def test_steps_of_one_operation_with_other_sources_need_no_label_to_distinguish_them(record: Record) -> None:
    recorded = record('''
import torch
w = torch.ones(2, requires_grad=True)
for step in range(2):
    y = w.exp()
    if step:
        y = y + w.sin()
        y = y * w.sin()
    y.sum().backward()
''')
    sites = [site for site in recorded.trace.sites() if site.kind == 'gradient']
    labels = labels_by_site(sites)
    assert [site.name for site in sites].count('w_grad') == 2       # of one gradient, and of the sum of three
    assert {(site.name, label.line, label.count) for site in sites
            if (label := labels.get((site.process, site.id))) is not None} == {('Sin_grad', 7, 1), ('Sin_grad', 8, 1)}


def test_a_backward_function_may_have_a_nan_from_the_values_of_its_forward(record: Record) -> None:
    recorded = record('''
import torch
class Root(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        y = x.sqrt()
        ctx.save_for_backward(y)
        return y
    @staticmethod
    def backward(ctx, gradient):
        return gradient / ctx.saved_tensors[0]
for value in 0., -1.:
    x = torch.full((2,), value, requires_grad=True)
    Root.apply(x).sum().backward()
''')
    verdicts = {finding.call.label: (finding.verdict, finding.origin and recorded.trace.call(finding.origin).label)
                for finding in judge(recorded.trace).findings if finding.call.site.kind == 'python'}
    assert verdicts == {'Root.backward[0]': ('born', ''), 'Root[1]': ('born', ''),
                        'Root.backward[1]': ('inherited', 'Root[1]')}

"""Ops as calls: their lines, modules, inputs and forward ops, in eager and compiled code and in threads."""
from __future__ import annotations

import re
import subprocess
import sys
import traceback
from pathlib import Path
from typing import Any

import pytest
from seen_calls import Seen
from torch_programs import PROGRAMS, Record, run_command

import pyfuncdbg
from pyfuncdbg.hooks.chain import hooks
from pyfuncdbg.observers.record.recorder import Recorder
from pyfuncdbg.observers.record.trace import Trace

pytestmark = [pytest.mark.torch, pytest.mark.usefixtures('op_modes')]


class SeenOps(Seen):
    """Sees ops."""

    kinds = frozenset(('op',))


@pytest.fixture
def seen_ops(torch: Any) -> Any:
    hook = SeenOps()
    with pyfuncdbg.attach('torch'):
        hooks.add(hook)
        try:
            yield hook
        finally:
            hooks.remove(hook)


def line_of(text: str) -> int:
    return (PROGRAMS / 'torch_training.py').read_text().splitlines().index(text) + 1


def test_a_training_program_is_the_same_with_ops(record: Record, tmp_path: Path) -> None:
    plain = subprocess.run([sys.executable, PROGRAMS / 'torch_training.py'], capture_output=True, text=True, check=True,
                           cwd=tmp_path, timeout=100)
    recorded = record('torch_training.py', '--ops')
    assert recorded.out == plain.stdout                 # losses, tracebacks, random numbers; one graph and no break
    assert '\n1 {}\n' in plain.stdout
    ops = recorded.trace.calls(kind='op', limit=10_000)
    by_name = {call.site.name: call for call in reversed(ops)}
    conv, head = by_name['conv/convolution'], by_name['head.0/addmm']
    assert conv.site.stack[-1].line == line_of('        h = torch.relu(self.conv(x))')
    assert head.site.stack[-1].line == line_of('        return self.head(h.flatten(1))')
    assert (conv.site.op_type, conv.site.attrs['module']) == ('aten.convolution', 'conv (Conv2d)')
    assert list(head.site.inputs) == ['head.0.bias', 'view:0', 'head.0/t:0']
    back = by_name['conv/convolution/backward/convolution_backward']
    assert back.site.stack == conv.site.stack
    assert len([call for call in ops if call.site.name == 'conv/convolution']) == 3
    assert len([call for call in ops if call.site.op_type == 'aten.convolution']) == 6      # three of compiled code
    in_thread = [call for call in ops if call.site.op_type == 'aten.mul']
    assert [call.site.stack[-1].function for call in in_thread] == ['in_thread']
    raised, = [call for call in ops if call.error]
    assert (raised.site.op_type, raised.site.stack[-1].line) == ('aten.mm', line_of('    torch.mm(x, x)'))


def test_an_op_shows_its_tensors_before_and_after(torch: Any, seen_ops: SeenOps) -> None:
    x = torch.tensor([1.0, 2.0])
    x.add_(1)
    torch.cat([x, x * 2])
    assert [call.site.op_type for call in seen_ops.calls[-3:]] == ['aten.add_', 'aten.mul', 'aten.cat']
    assert [[value.tolist() for value in values] for values in seen_ops.inputs[-3:]] == [
        [[1.0, 2.0]], [[2.0, 3.0]], [[2.0, 3.0], [4.0, 6.0]]]
    assert [values[0].tolist() for values in seen_ops.outputs[-3:]] == [[2.0, 3.0], [4.0, 6.0], [2.0, 3.0, 4.0, 6.0]]


def test_what_a_hook_gives_is_the_result_of_an_op(torch: Any, seen_ops: SeenOps) -> None:
    x = torch.tensor([1.0, 2.0])
    seen_ops.change = lambda call, proceed: [torch.zeros(2)] if call.site.op_type == 'aten.mul' else proceed()
    assert (x * 2).tolist() == [0.0, 0.0]

    def change(call: Any, proceed: Any) -> Any:
        call.inputs[0] = torch.tensor([5.0, 5.0])
        return proceed()
    seen_ops.change = change
    assert torch.neg(x).tolist() == [-5.0, -5.0]


def test_an_error_in_an_op_looks_as_without_us(torch: Any, tmp_path: Path) -> None:
    @torch.library.custom_op('ours::fails', mutates_args=(), schema='(Tensor x) -> Tensor')
    def fails(x: Any) -> Any:
        raise KeyError('no such row')
    texts = []

    def fail() -> None:
        for function in (lambda: torch.mm(torch.ones(2), torch.ones(2)), lambda: fails(torch.ones(1)),
                         lambda: torch.nn.Linear(2, 2)(torch.ones(3))):
            try:
                function()
            except (RuntimeError, KeyError):
                texts.append(traceback.format_exc())
    fail()
    with pyfuncdbg.attach('torch'), Recorder(tmp_path / 'a.pfd', ops=True):
        fail()
    assert len(texts) == 6
    assert texts[:3] == texts[3:]


def test_the_forward_op_of_another_thread_is_not_made_up(torch: Any, seen_ops: SeenOps) -> None:
    import threading
    x = torch.ones(2, requires_grad=True)
    made = []
    thread = threading.Thread(target=lambda: made.append((x.sin() * 3).sum()))
    thread.start()
    thread.join()
    y = (x.exp() + 1).sum()         # nodes with the numbers of those of the other thread
    made[0].backward()
    assert y.requires_grad
    steps = [call.site for call in seen_ops.calls if call.site.attrs.get('backward')]
    assert steps
    assert not [site for site in steps if site.name.startswith(('exp/', 'add/'))]


def test_without_a_hook_no_mode_is_left(torch: Any) -> None:
    from torch.utils._python_dispatch import _get_current_dispatch_mode
    with pyfuncdbg.attach('torch'):
        hook = SeenOps()
        hooks.add(hook)
        assert _get_current_dispatch_mode() is not None
        hooks.remove(hook)
        assert _get_current_dispatch_mode() is None
        hooks.add(hook)
    assert _get_current_dispatch_mode() is None
    hooks.remove(hook)


def test_hooks_that_change_within_an_op_enter_no_second_mode(torch: Any, seen_ops: SeenOps) -> None:
    class SeenSteps(Seen):
        kinds = frozenset(('gradient',))

    @torch.library.custom_op('ours::refreshes', mutates_args=(), schema='(Tensor x) -> Tensor')
    def refreshes(x: Any) -> Any:
        hooks.refresh()
        return x + 1
    steps = SeenSteps()
    hooks.add(steps)
    try:
        refreshes(torch.ones(1))
        assert torch._C._len_torch_function_stack() == torch._C._len_torch_dispatch_stack() == 1
        seen_ops.calls.clear()
        torch.ones(1).exp()
        assert [call.site.op_type for call in seen_ops.calls] == ['aten.ones', 'aten.exp']
    finally:
        hooks.remove(steps)
    assert torch._C._len_torch_function_stack() == 0


def test_where_nan_was_born_is_an_op_and_its_line(record: Record, tmp_path: Path) -> None:
    recorded = record('''
import torch
def normed(x):
    top = x - x.mean()
    return top / top.std()
def loss(x):
    return torch.relu(normed(x)).sum()
print(loss(torch.ones(4)))
''', '--ops')
    recorded.trace.close()
    done = run_command('show', str(recorded.folder), 'health', cwd=tmp_path)
    rows = [re.split(r'\s{2,}', line) for line in done.stdout.splitlines() if line.startswith('#')]
    assert rows[0][:6] == ['#5 div[0]', 'BORN', 'out0 NaN 4 of 4', '[0]', 'program.py:5', 'aten.div'], done.stdout
    assert [row[:2] for row in rows[1:3]] == [['#6 relu[0]', 'inherited from #5'], ['#7 sum[0]', 'inherited from #5']]
    with Trace.open(recorded.folder) as trace:
        first = next(call for call in trace.calls(kind='op', limit=1000) if call.outputs and call.outputs[0].stats
                     and call.outputs[0].stats.nan)
        assert (first.site.name, first.site.stack[-1].line) == ('div', 5)


def test_a_program_resizes_its_tensors_as_without_us(torch: Any, tmp_path: Path) -> None:
    def resized() -> list[list[float]]:
        x, out = torch.ones(2), torch.empty(0)
        torch.add(x, 1, out=out)
        first = out.tolist()
        out.resize_(0)
        torch.add(torch.ones(3), 4, out=out)
        (x * 2).resize_(10_000)
        return [first, out.tolist()]
    with pyfuncdbg.attach('torch'), Recorder(tmp_path / 'a.pfd', ops=True) as recorder:
        assert resized() == [[2.0, 2.0], [5.0, 5.0, 5.0]]
        with recorder.trace() as trace:
            calls = trace.calls(kind='op', limit=100)
    assert [call.outputs[0].to_numpy().tolist() for call in calls if call.site.op_type == 'aten.add'] == [
        [2.0, 2.0], [5.0, 5.0, 5.0]]

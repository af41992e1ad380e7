"""Calls of `autograd.Function`: their lines, values and errors, stops in them, and what a user puts in their place."""
from __future__ import annotations

import traceback
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from seen_calls import Seen
from torch_programs import PROGRAMS, Record, plain_output, run_command

import pyfuncdbg

pytestmark = pytest.mark.torch


@pytest.fixture
def square(torch: Any) -> Any:
    """A function of its own with its gradient."""
    class Square(torch.autograd.Function):
        @staticmethod
        def forward(ctx: Any, x: Any, power: int = 2) -> Any:
            ctx.save_for_backward(x)
            return x ** power

        @staticmethod
        def backward(ctx: Any, g: Any) -> Any:
            x, = ctx.saved_tensors
            return 2 * x * g, None
    return Square


def test_each_call_has_its_line_and_values(torch: Any, seen: Seen, square: Any) -> None:
    x = torch.tensor([1.0, 3.0], requires_grad=True)
    y = square.apply(x, 2)
    assert y.grad_fn is not None
    call, = seen.calls
    assert (call.site.name, call.site.op_type, call.site.function.__qualname__.rpartition('.')[2]) == (
        'Square', 'autograd.Function', 'forward')
    assert call.site.stack[-1].function == 'test_each_call_has_its_line_and_values'
    assert [value.tolist() for value in seen.inputs[0]] == [[1.0, 3.0], 2]
    assert seen.outputs[0][0].tolist() == [1.0, 9.0]


def test_what_a_hook_gives_is_the_result(torch: Any, seen: Seen, square: Any) -> None:
    seen.change = lambda call, proceed: [torch.zeros(2)]
    assert square.apply(torch.ones(2)).tolist() == [0.0, 0.0]


def test_an_input_that_a_hook_replaces_keeps_its_gradient(torch: Any, seen: Seen, square: Any) -> None:
    def change(call: Any, proceed: Any) -> Any:
        if call.site.name == 'Square':
            call.inputs[0] = call.site.host.from_numpy(np.array([5.0, 7.0], np.float32), call.inputs[0])
        return proceed()
    seen.change = change
    x = torch.tensor([1.0, 3.0], requires_grad=True)
    y = square.apply(x * 1, 2)
    y.sum().backward()
    assert y.tolist() == [25.0, 49.0]
    assert x.grad.tolist() == [10.0, 14.0]


def test_an_exception_looks_as_without_us(torch: Any) -> None:
    class Fails(torch.autograd.Function):
        @staticmethod
        def forward(ctx: Any, x: Any) -> Any:
            raise KeyError('no such row')
    texts = []

    def fail() -> None:
        try:
            Fails.apply(torch.ones(1))
        except KeyError:
            texts.append(traceback.format_exc())
    fail()
    with pyfuncdbg.attach('torch'), pyfuncdbg.record():
        fail()
    assert texts[0] == texts[1]


def test_pytorchs_own_functions_are_no_calls(torch: Any, seen: Seen) -> None:
    from torch.utils.checkpoint import checkpoint
    x = torch.ones(2, requires_grad=True)
    checkpoint(torch.sin, x, use_reentrant=True).sum().backward()
    assert seen.names == []


def test_functions_under_transforms_pass_through(torch: Any, seen: Seen) -> None:
    class Twice(torch.autograd.Function):
        generate_vmap_rule = True

        @staticmethod
        def forward(x: Any) -> Any:
            return x * 2

        @staticmethod
        def setup_context(ctx: Any, inputs: Any, output: Any) -> None: ...

        @staticmethod
        def backward(ctx: Any, g: Any) -> Any:
            return g * 2
    assert torch.vmap(Twice.apply)(torch.ones(3)).tolist() == [2.0, 2.0, 2.0]
    assert torch.func.grad(lambda x: Twice.apply(x).sum())(torch.ones(3)).tolist() == [2.0, 2.0, 2.0]
    assert Twice.apply(torch.ones(1)).tolist() == [2.0]
    assert [value.tolist() for value in seen.inputs[-1]] == [[1.0]]


def test_element_types_that_numpy_lacks(torch: Any, seen: Seen, square: Any) -> None:
    square.apply(torch.tensor([1.5, -3.0], dtype=torch.bfloat16))
    assert seen.inputs[0][0].dtype.name == 'bfloat16'
    assert seen.inputs[0][0].tolist() == [1.5, -3.0]


def test_the_program_is_recorded(record: Record) -> None:
    recorded = record('torch_check.py')
    assert recorded.out == plain_output('torch_check.py')
    calls = [(call.site.name, call.site.stack[-1].line) for call in recorded.trace.calls(kind='python')]
    assert calls == [('Sine', 14), ('Cube', 14), ('Cube.backward', 14), ('Sine.backward', 14), ('Sine', 16)]


def test_a_stop_in_forward_and_an_injected_input(tmp_path: Path) -> None:
    done = run_command('run', '--break', 'function:Sine.forward', '--ui', 'prompt', str(PROGRAMS / 'torch_check.py'),
                       cwd=tmp_path, typed='inject x torch.zeros(3, dtype=torch.float64)\nn\nc\nc\n')
    assert 'STOPPED entering forward at torch_check.py:4' in done.stderr
    assert done.stdout == '[0.0, 0.0, 0.0]\n'


def test_a_forward_is_replaced_and_put_back(tmp_path: Path) -> None:
    done = run_command('run', '--break', 'Sine', '--ui', 'prompt', str(PROGRAMS / 'torch_check.py'), cwd=tmp_path,
                       typed='swap Sine lambda x: x\nswap Sine lambda ctx, x: (ctx.save_for_backward(x), x * 0)[1]\nc\nq\n')
    assert 'cannot be called with 2 arguments' in done.stderr
    assert done.stdout.replace('-', '') == '[0.0, 0.0, 0.0]\n'


HOOKED = '''
import torch
@torch.library.custom_op('own::clip', mutates_args=())
def clip(x: torch.Tensor, top: float) -> torch.Tensor:
    return x.clamp(max=top)
def seen(module, args, output):
    return None
class Net(torch.nn.Module):
    def forward(self, x):
        return clip(x, 1.5)
net = Net()
net.register_forward_hook(seen)
net(torch.ones(2))
'''


def test_the_node_of_a_stop_before_its_first_call_is_known(tmp_path: Path) -> None:
    (tmp_path / 'hooked.py').write_text(HOOKED)
    done = run_command('run', '--break', 'clip', '--break', 'seen', '--ui', 'prompt', 'hooked.py', cwd=tmp_path,
                       typed='ni clip\nli clip\nps hooked.py:10\ncalls\nc\nni seen\nlo seen\nc\n')
    assert '*** ' not in done.stderr and done.returncode == 0, done.stderr
    clip, seen = done.stderr.split('STOPPED before call 1 of node')[1:]
    assert 'node clip  own::clip  has not run yet' in clip and 'part of   no graph: called eagerly in run #1 Net' in clip
    assert '0 nodes go into clip' in clip and 'clip own::clip' in clip and '0 calls' in clip
    assert 'argument_form' not in clip + seen
    assert 'node seen  register_forward_hook  has not run yet' in seen and '0 nodes come of seen' in seen

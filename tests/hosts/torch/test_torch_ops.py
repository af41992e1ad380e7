"""Calls of custom ops, library kernels, hooks and backward functions; `torch.compile` passes through unchanged."""
from __future__ import annotations

import pickle
import traceback
from typing import Any

import numpy as np
import pytest
from seen_calls import Seen
from torch_programs import Record, plain_output

import pyfuncdbg
from pyfuncdbg.hooks.chain import hooks

pytestmark = pytest.mark.torch


def scale_hook(module: Any, args: Any, output: Any) -> Any:
    """A hook that can be pickled."""
    return output * 2


@pytest.fixture
def doubled(torch: Any) -> Any:
    """A custom op with a gradient, made before anything is attached."""
    @torch.library.custom_op('tested::doubled', mutates_args=(), schema='(Tensor x, float by=2.0) -> Tensor')
    def doubled(x: Any, by: float = 2.0) -> Any:
        return torch.from_numpy(x.numpy() * np.float32(by))

    def backward(ctx: Any, g: Any) -> Any:
        return g * 2, None
    doubled.register_autograd(backward)
    doubled.register_fake(lambda x, by=2.0: torch.empty_like(x))
    return doubled


def test_an_op_from_before_the_attachment(torch: Any, doubled: Any, seen: Seen) -> None:
    x = torch.ones(2, requires_grad=True)
    y = doubled(x)
    y.sum().backward()
    assert [(call.site.name, call.site.op_type) for call in seen.calls] == [
        ('doubled', 'tested::doubled'), ('doubled.backward', 'tested::doubled.backward')]
    assert [value.tolist() for value in seen.inputs[1]] == [[1, 1]]     # without its ctx
    assert seen.outputs[0][0].tolist() == [2.0, 2.0]
    assert seen.calls[0].site.stack[-1].function == 'test_an_op_from_before_the_attachment'
    assert x.grad.tolist() == [2.0, 2.0]


def test_detaching_gives_the_op_its_own_functions_back(torch: Any, doubled: Any) -> None:
    before = dict(doubled._backend_fns), doubled._backward_fn
    with pyfuncdbg.attach('torch'):
        assert (dict(doubled._backend_fns), doubled._backward_fn) != before
    assert (dict(doubled._backend_fns), doubled._backward_fn) == before


def test_the_function_of_an_op_can_be_replaced(torch: Any, doubled: Any, seen: Seen) -> None:
    doubled(torch.ones(2))
    site = seen.calls[0].site
    site.host.replace(site, lambda x, by=2.0: x + 10, 1)
    assert doubled(torch.ones(2)).tolist() == [11.0, 11.0]
    with pytest.raises(ValueError, match='cannot be called with 1 argument'):
        site.host.replace(site, lambda: None, 1)


def test_nested_arguments_have_names(torch: Any, seen: Seen) -> None:
    @torch.library.custom_op('tested::joined', mutates_args=(), schema='(Tensor[] parts, *, float scale) -> Tensor')
    def joined(parts: Any, *, scale: float) -> Any:
        return torch.cat(parts) * scale
    assert joined([torch.ones(1), torch.zeros(1)], scale=3.0).tolist() == [3.0, 0.0]
    call, = seen.calls
    assert list(call.site.inputs) == ['parts[0]', 'parts[1]', 'scale']
    assert [value.tolist() for value in seen.inputs[0]] == [[1.0], [0.0], 3.0]


def test_kernels_of_a_library_and_not_its_fakes(record: Record) -> None:
    recorded = record('torch_ops.py')
    assert recorded.out == plain_output('torch_ops.py')
    sites = [call.site for call in recorded.trace.calls(kind='python')]
    assert [(site.name, site.op_type, site.stack[-1].line) for site in sites] == 3 * [
        ('clip', 'shipped::clip', 12), ('shift', 'shipped_too::shift', 12)]


def test_hooks_of_tensors_and_modules(torch: Any, seen: Seen) -> None:
    model = torch.nn.Linear(2, 1)
    model.register_forward_hook(scale_hook)
    model.register_full_backward_hook(lambda module, inputs, outputs: None)
    x = torch.ones(2, requires_grad=True)
    x.register_hook(lambda g: g * 3)
    handle = model.weight.register_post_accumulate_grad_hook(lambda p: None)
    model(x).sum().backward()
    assert sorted(call.site.op_type for call in seen.calls) == [
        'register_forward_hook', 'register_full_backward_hook', 'register_hook', 'register_post_accumulate_grad_hook']
    assert torch.equal(x.grad, model.weight.detach()[0] * 6)
    handle.remove()
    assert not model.weight._post_accumulate_grad_hooks


def test_a_module_is_pickled_with_its_own_hooks(torch: Any, seen: Seen) -> None:
    model = torch.nn.Linear(2, 1)
    model.register_forward_hook(scale_hook)
    copy = pickle.loads(pickle.dumps(model))
    assert list(copy._forward_hooks.values()) == [scale_hook]


def test_backward_of_a_function_and_its_error(torch: Any) -> None:
    class Fails(torch.autograd.Function):
        @staticmethod
        def forward(ctx: Any, x: Any) -> Any:
            return x * 2

        @staticmethod
        def backward(ctx: Any, g: Any) -> Any:
            raise ZeroDivisionError('in backward')
    texts = []

    def fail() -> None:
        try:
            Fails.apply(torch.ones(1, requires_grad=True)).sum().backward()
        except ZeroDivisionError:
            texts.append(traceback.format_exc())
    fail()
    with pyfuncdbg.attach('torch'), pyfuncdbg.record() as recording:
        fail()
    assert texts[0] == texts[1]
    with recording.trace() as trace:
        assert [(call.site.name, call.error is not None) for call in trace.calls(kind='python')] == [
            ('Fails', False), ('Fails.backward', True)]


def test_an_exception_whose_text_cannot_be_had(torch: Any) -> None:
    class WordlessError(Exception):
        def __str__(self) -> str:
            raise RuntimeError('no text')

    class Fails(torch.autograd.Function):
        @staticmethod
        def forward(ctx: Any, x: Any) -> Any:
            raise WordlessError
    with pyfuncdbg.attach('torch'), pyfuncdbg.record() as recording, pytest.raises(WordlessError):
        Fails.apply(torch.ones(1))
    with recording.trace() as trace:
        assert [call.site.name for call in trace.calls(kind='python') if call.error is not None] == ['Fails']


def test_a_recomputation_is_marked_and_its_early_end_is_no_error(recorded_program: Record) -> None:
    recorded = recorded_program('torch_tape.py')
    assert recorded.out == plain_output('torch_tape.py')
    calls = [call for call in recorded.trace.calls(kind='python') if call.site.name == 'Square']
    assert [call.site.attrs.get('recomputed', False) for call in calls] == [False, True, False]
    assert not [call for call in calls if call.error is not None]


def test_a_compiled_model_is_one_graph_and_the_same_bit_for_bit(torch: Any, doubled: Any) -> None:
    class Square(torch.autograd.Function):
        @staticmethod
        def forward(ctx: Any, x: Any) -> Any:
            ctx.save_for_backward(x)
            return x * x

        @staticmethod
        def backward(ctx: Any, g: Any) -> Any:
            x, = ctx.saved_tensors
            return 2 * x * g

    class Model(torch.nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.inner = torch.nn.Linear(3, 3)
            self.inner.register_forward_hook(scale_hook)

        def forward(self, x: Any) -> Any:
            hidden = Square.apply(self.inner(x))
            hidden.register_hook(lambda g: g * 3)
            return doubled(hidden).sum()

    def train() -> tuple[Any, ...]:
        torch._dynamo.reset()
        torch._dynamo.utils.counters.clear()
        torch.manual_seed(0)
        model = Model()
        compiled = torch.compile(model, backend='aot_eager', fullgraph=True)
        for _ in range(3):
            loss = compiled(torch.arange(6.0).reshape(2, 3))
            loss.backward()
        counters = torch._dynamo.utils.counters
        return (loss.detach().numpy().tobytes(), model.inner.weight.grad.numpy().tobytes(),
                counters['stats']['unique_graphs'], dict(counters['graph_break']))
    import torch._dynamo
    try:
        plain = train()
    except torch._dynamo.exc.Unsupported as error:
        pytest.skip(f'this version of PyTorch does not compile the model: {error}')
    with pyfuncdbg.attach('torch'), pyfuncdbg.record() as recording:
        watched = train()
    assert watched == plain
    assert watched[2:] == (1, {})
    with recording.trace() as trace:
        assert {call.site.name for call in trace.calls(kind='python')} == {'doubled'}
        assert len([run for run in trace.runs() if run.kind == 'backward']) == 3


def test_hooks_that_were_registered_before_attaching(torch: Any) -> None:
    model = torch.nn.Linear(2, 2)
    model.register_forward_hook(scale_hook)
    model.register_forward_pre_hook(lambda module, args, kwargs: None, with_kwargs=True)
    model.register_full_backward_hook(lambda module, inputs, outputs: None)
    x = torch.ones(1, 2, requires_grad=True)
    x.register_hook(lambda g: g * 3)
    model.weight.register_post_accumulate_grad_hook(lambda p: None)
    tables = [model._forward_hooks, model._forward_pre_hooks, model._backward_hooks, x._backward_hooks,
              model.weight._post_accumulate_grad_hooks]
    before = [list(table.values()) for table in tables]
    model(x).sum().backward()
    expected = x.grad.clone()
    x.grad = None
    hook = Seen()
    with pyfuncdbg.attach('torch'):
        hooks.add(hook)
        model(x).sum().backward()
        hooks.remove(hook)
    assert torch.equal(x.grad, expected)
    assert sorted(call.site.op_type for call in hook.calls) == [
        'register_forward_hook', 'register_forward_pre_hook', 'register_full_backward_hook', 'register_hook',
        'register_post_accumulate_grad_hook']
    assert [list(table.values()) for table in tables] == before


def test_a_kernel_that_was_registered_before_attaching(torch: Any) -> None:
    if not hasattr(torch.library, 'get_kernel'):
        pytest.skip('PyTorch 2.9 or newer')
    library, begun = torch.library.Library('earlier_kernels', 'DEF'), []
    library.define('shift(Tensor x, int by, *, bool back=False) -> Tensor')

    def shift(x: Any, by: int, *, back: bool = False) -> Any:
        begun.append(by)
        if by > 5:
            raise ValueError('too far')
        return torch.roll(x, -by if back else by)
    library.impl('shift', shift, 'CPU')
    library.impl('shift', lambda x, by, *, back=False: torch.empty_like(x), 'Meta')
    op, texts = torch.ops.earlier_kernels.shift, []

    def fail() -> None:
        try:
            op(torch.arange(3), 9)
        except ValueError:
            texts.append(traceback.format_exc())
    fail()
    hook = Seen()
    with pyfuncdbg.attach('torch'):
        hooks.add(hook)
        assert op(torch.arange(3), 1, back=True).tolist() == [1, 2, 0]
        compiled = torch.compile(lambda x: op(x * 2, 1), backend='aot_eager', fullgraph=True)
        assert compiled(torch.arange(3)).tolist() == [4, 0, 2]
        fail()
        hooks.remove(hook)
    assert op(torch.arange(3), 1).tolist() == [2, 0, 1]
    assert begun == [9, 1, 1, 9, 1]             # once a call, also where the function was not known yet
    assert [(call.site.name, call.site.op_type, call.site.function) for call in hook.calls] == 3 * [
        ('shift', 'earlier_kernels::shift', shift)]
    assert [value.tolist() for value in hook.inputs[0]] == [[0, 1, 2], 1, True]
    assert texts[0] == texts[1]

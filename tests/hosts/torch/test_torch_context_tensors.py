"""Tensors that a Function keeps on its `ctx`: of one output or several, in containers, its own and others; and no others."""
from __future__ import annotations

import gc
import weakref
from pathlib import Path
from typing import Any

import pytest
from torch_programs import diagnosed

from pyfuncdbg.hooks.diagnosis import Place, RecordedFact
from pyfuncdbg.hosts.torch.doctor.judges import find_kept_tensors

PROGRAM = '''
import torch
TABLE = torch.arange(3.)
class Keeps(torch.autograd.Function):
    @staticmethod
    def backward(ctx, *gradients): return sum(gradients), None
def keeping(number):
    def forward(ctx, x, how): return body(ctx, x, number)
    return type(f'Keeps{number}', (Keeps,), {'forward': staticmethod(forward)})
def body(ctx, x, number):
    one, two = x * 2, x * 3
    middle = x + 1
    if number == 0: ctx.x = x                                       # of a function with two outputs
    if number == 1: ctx.second = two
    if number == 2: ctx.parts = [1, ('text', middle)]
    if number == 3: ctx.named = {'scale': 2., 'mask': x, 'more': middle}
    if number == 4: ctx.middle, ctx.table = middle, TABLE
    if number == 5: ctx.seen = x.detach(); ctx.shown = two[1:]
    if number == 6:                                                  # nothing that is a fault
        ctx.save_for_backward(x, two, middle)
        ctx.scale, ctx.shape, ctx.device, ctx.names, ctx.sizes = 2., x.shape, x.device, ['a'], {'n': 3}
        ctx.array = x.detach().numpy().copy()
        ctx.mark_non_differentiable(one); ctx.set_materialize_grads(True)
    if number == 7: ctx.first = one; return one                      # of one output
    return one, two
for number in range(8):
    results = keeping(number).apply(torch.ones(3, requires_grad=True) * 1, 'how')
    (results[1] if type(results) is tuple else results).sum().backward()
class Later(torch.autograd.Function):
    @staticmethod
    def forward(x): return x * 2, x * 3
    @staticmethod
    def setup_context(ctx, inputs, output): ctx.both = output
    @staticmethod
    def backward(ctx, *gradients): return sum(gradients)
Later.apply(torch.ones(3, requires_grad=True))[0].sum().backward()
class First(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        ctx.x = x
        result = x.sum() > 0
        ctx.mark_non_differentiable(result)
        return result, x * 2
    @staticmethod
    def backward(ctx, _, g): return 2 * g
First.apply(torch.ones(3, requires_grad=True))[1].sum().backward()
with torch.no_grad(): First.apply(torch.ones(3, requires_grad=True))
'''


@pytest.mark.torch
def test_every_tensor_that_is_kept_is_found_and_nothing_else(tmp_path: Path) -> None:
    (tmp_path / 'program.py').write_text(PROGRAM)
    found = [finding for finding in diagnosed(tmp_path, tmp_path / 'program.py') if finding.kind == 'kept']
    kept = {(finding.site, finding.what.partition(':')[0].partition(' keeps ')[2], finding.fix) for finding in found}
    neither = 'a tensor that is neither an input nor an output'
    assert kept == {
        ('Keeps0', 'an input as ctx.x', 'ctx.save_for_backward(x)'),
        ('Keeps1', 'an output as ctx.second', 'ctx.save_for_backward(second)'),
        ('Keeps2', f'{neither} as ctx.parts[1][1]', 'ctx.save_for_backward(*parts)'),
        ('Keeps3', "an input as ctx.named['mask']", 'ctx.save_for_backward(*named.values())'),
        ('Keeps4', f'{neither} as ctx.middle', 'ctx.save_for_backward(middle)'),
        ('Keeps4', f'{neither} as ctx.table', 'ctx.save_for_backward(table)'),
        ('Keeps5', 'a view of an input as ctx.seen', 'ctx.save_for_backward(seen)'),
        ('Keeps5', 'a view of an output as ctx.shown', 'ctx.save_for_backward(shown)'),
        ('Keeps7', 'an output as ctx.first', 'ctx.save_for_backward(first)'),
        ('Later', 'an output as ctx.both[0]', 'ctx.save_for_backward(*both)'),
        ('First', 'an input as ctx.x', 'ctx.save_for_backward(x)')}
    assert {finding.figures['calls'] for finding in found} == {1}       # the call without a gradient keeps nothing


@pytest.mark.torch
def test_an_output_that_is_kept_lives_until_the_garbage_collector_runs(torch: Any) -> None:
    """What the finding says of it."""
    class Keeps(torch.autograd.Function):
        @staticmethod
        def forward(ctx: Any, x: Any) -> Any:
            ctx.y = x * 2
            return ctx.y

        @staticmethod
        def backward(ctx: Any, gradient: Any) -> Any:
            return gradient * 2
    result = Keeps.apply(torch.ones(3, requires_grad=True))
    node = weakref.ref(result.grad_fn)
    gc.disable()
    try:
        result.sum().backward()
        del result
        assert node() is not None
        gc.collect()
        assert node() is None
    finally:
        gc.enable()


def test_what_a_trace_says_of_a_tensor_that_is_kept() -> None:
    data = ({'function': 'F', 'attribute': 'y', 'role': 'output', 'count': 2},
            {'function': 'F', 'attribute': 'y', 'role': 'unheard of', 'container': 'set', 'within': '[0]', 'count': True})

    class Trace:
        def facts_of_kind(self, kind: str) -> list[RecordedFact]:
            return [RecordedFact(kind, 1, 0, Place('train.py', 3), each) for each in data]
    output, strange = find_kept_tensors(Trace())        # type: ignore[arg-type]
    assert output.what.startswith('F keeps an output as ctx.y: ')
    assert output.what.endswith('until the garbage collector runs')
    assert (output.figures, output.advice) == ({'calls': 2}, 'read it in backward by y, = ctx.saved_tensors')
    assert strange.what.startswith('F keeps a tensor as ctx.y[0]: ') and strange.figures == {'calls': 0}

"""While as an op, and its gradient: a While backwards over the forward loop's stacked values.

Called when a backward pass is added to a graph. The hidden outputs that the backward body needs become its items, so
that the forward loop of a plan stacks only these.
"""
from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from pyfuncdbg.hosts.numpy.graph import context
from pyfuncdbg.hosts.numpy.graph.definitions.attributes import FunctionName
from pyfuncdbg.hosts.numpy.graph.definitions.registry import (
    CONSTANT,
    IDENTITY,
    STATELESS_WHILE,
    SUM,
    WHILE,
    Attrs,
    Node,
    OpDef,
    Output,
    TypedInput,
    register,
)
from pyfuncdbg.hosts.numpy.graph.types.dtypes import int32, variant
from pyfuncdbg.hosts.numpy.graph.types.shapes import TensorShape
from pyfuncdbg.hosts.numpy.runtime.backward.backward_pass import zeros_like
from pyfuncdbg.hosts.numpy.runtime.control_flow.nested_plan import has_state
from pyfuncdbg.hosts.numpy.runtime.control_flow.while_loop import Loop, run
from pyfuncdbg.hosts.numpy.runtime.eager.dispatch import apply
from pyfuncdbg.hosts.numpy.runtime.traces.traced_function import TracedFunction

_SCALAR = TensorShape(())


def repeat(op_type: str, start: Sequence[Any], pool: Sequence[Any], loop: Loop, attrs: Attrs,
           name: str | None = None) -> list[Any]:
    """Add a node that runs a loop; its outputs. `start` are counter and maximum."""
    functions = {'body': FunctionName(loop.body.name)}
    if loop.condition is not None:
        functions['cond'] = FunctionName(loop.condition.name)
    shapes = [shape for _, shape in loop.types]
    return list(apply(op_type, (*start, *pool), {**functions, 'output_shapes': shapes, **attrs, '_py_loop': loop}, name))


@dataclass(slots=True)
class _Incoming:
    """The incoming gradients of a loop's outputs, by kind of output."""

    carried: list[Any]
    fixed: list[Any]
    stacked: list[Any]
    summed: list[Any]
    intermediates: list[Any]

    @classmethod
    def of(cls, node: Node, loop: Loop, fixed: int, grads: Sequence[Any]) -> _Incoming:
        """From the gradients of a node's outputs and hidden outputs, None where missing."""
        parts: Iterator[Any] = iter([*grads[2:], *[None] * (len(node.outputs) + len(node.recorded()) - len(grads))])

        def some(count: int) -> list[Any]:
            return [next(parts) for _ in range(count)]
        carried, fixed_grads = some(loop.carried), some(fixed if loop.condition is not None else 0)
        stacked, summed, _ = some(len(loop.stacked)), some(len(loop.summed)), some(1)
        return cls(carried, fixed_grads or [None] * fixed, stacked, summed, list(parts))


class _Inputs:
    """Builder of the backward loop's pool."""

    def __init__(self) -> None:
        self.parts: dict[str, list[Any]] = {'carried': [], 'items': [], 'fixed': []}

    def add(self, kind: str, tensor: Any) -> tuple[str, int]:
        """Add a tensor; its index among those of its kind."""
        part = self.parts[kind]
        part.append(tensor)
        return kind, len(part) - 1

    def place(self, where: tuple[str, int]) -> int:
        """Its index in the pool."""
        kind, index = where
        before = {'carried': 0, 'items': len(self.parts['carried']),
                  'fixed': len(self.parts['carried']) + len(self.parts['items'])}
        return before[kind] + index

    def pool(self) -> list[Any]:
        """All tensors."""
        return [tensor for part in self.parts.values() for tensor in part]


def gradient(node: Node, *grads: Any) -> Sequence[Any]:
    """The rule of While. As in TensorFlow, unconnected inputs have a gradient of zeros."""
    loop: Loop = node.attrs['_py_loop']
    pool = node.inputs[2:]
    fixed = len(pool) - loop.carried - loop.items
    incoming = _Incoming.of(node, loop, fixed, grads)
    backward, needed, reached, targets = _backward(loop, incoming)
    outcome: list[Any] = [None] * len(pool)
    if backward.outputs:
        inputs = _Inputs()
        feeds = _seeds(node, loop, incoming, reached, targets, inputs)
        feeds += [_add_forward_value(node, loop, n, inputs) for n in needed]
        _add_backward_loop(node, loop, backward, reached, inputs, feeds, outcome)
    for i, fixed_grad in enumerate(incoming.fixed):
        place = loop.carried + loop.items + i
        if fixed_grad is not None:
            outcome[place] = fixed_grad if outcome[place] is None else apply(SUM, (outcome[place], fixed_grad))
    return [None, None, *(zeros_like(tensor) if grad is None and tensor.dtype.is_trainable and
                          tensor.dtype.is_numpy_compatible else grad
                          for tensor, grad in zip(pool, outcome, strict=True))]


def _backward(loop: Loop, incoming: _Incoming) -> tuple[TracedFunction, list[Any], list[int], list[tuple[str, int, int]]]:
    """The backward body; the values that it needs, the carried values whose gradients are carried, and its targets.

    A carried value whose gradient arises in an earlier iteration only is carried too: a fixed point iteration.
    """
    body = loop.body
    first = len(body.inputs) + len(body.graph.captures)
    reached = {i for i, g in enumerate(incoming.carried) if g is not None}
    while True:
        targets = [('carried', i, first + loop.next[i]) for i in sorted(reached)]
        targets += [('stacked', i, first + loop.stacked[i]) for i, g in enumerate(incoming.stacked) if g is not None]
        targets += [('summed', i, first + loop.summed[i][0]) for i, g in enumerate(incoming.summed) if g is not None]
        targets += [('intermediates', i, i) for i, g in enumerate(incoming.intermediates) if g is not None]
        filled = [i for i, place in enumerate(loop.feeds) if place in reached]
        backward, needed = body.backward([place for _, _, place in targets], filled)
        packed = backward.pack(range(len(backward.outputs)))
        places = {place for place, output in zip(loop.feeds, packed, strict=True)
                  if output is not None and place < loop.carried}
        if places <= reached:
            return backward, needed, sorted(reached), targets
        reached |= places


def _seeds(node: Node, loop: Loop, incoming: _Incoming, reached: Sequence[int], targets: Sequence[tuple[str, int, int]],
           inputs: _Inputs) -> list[tuple[str, int]]:
    """The incoming gradients as inputs of the backward loop, and their places in the backward body."""
    feeds = []
    for kind, i, _ in targets:
        if kind == 'carried':
            carried_grad = incoming.carried[i]
            feeds.append(inputs.add('carried', zeros_like(node.outputs[2 + i]) if carried_grad is None else carried_grad))
        elif kind == 'summed':
            feeds.append(inputs.add('fixed', incoming.summed[i]))
        else:
            feeds.append(inputs.add('items', (incoming.stacked if kind == 'stacked' else incoming.intermediates)[i]))
    return feeds


def _add_forward_value(node: Node, loop: Loop, what: Any, inputs: _Inputs) -> tuple[str, int]:
    """Add a value of the forward loop for the backward body: of the iteration, or fixed."""
    if not isinstance(what, int):
        return inputs.add('fixed', what)
    if what < len(loop.feeds) and loop.feeds[what] >= loop.carried:
        place = loop.feeds[what]
        return inputs.add('items' if place < loop.carried + loop.items else 'fixed', node.inputs[2 + place])
    return inputs.add('items', node.recorded()[1 + what])


def _add_backward_loop(node: Node, loop: Loop, backward: TracedFunction, reached: Sequence[int], inputs: _Inputs,
                       feeds: Sequence[tuple[str, int]], outcome: list[Any]) -> None:
    """Add the backward loop; stores its results in `outcome`, by the index in the forward loop's pool."""
    pool = node.inputs[2:]
    packed = backward.pack(range(len(backward.outputs)))
    output_by_place = {place: output for place, output in zip(loop.feeds, packed, strict=True) if output is not None}
    items = [place for place in output_by_place if loop.carried <= place < loop.carried + loop.items]
    fixed = [place for place in output_by_place if place >= loop.carried + loop.items]
    likes = [inputs.add('fixed', pool[place]) for place in fixed]
    types: list[Output] = [(int32, _SCALAR), (int32, _SCALAR)]
    types += [(node.outputs[2 + i].dtype, node.outputs[2 + i].shape) for i in reached]
    types += [(variant, _SCALAR)] * len(items)
    types += [(backward.outputs[output_by_place[place]].dtype,
               backward.outputs[output_by_place[place]].shape) for place in fixed]
    backward_loop = Loop(
        condition=None, body=backward, carried=len(inputs.parts['carried']), items=len(inputs.parts['items']), asks=(),
        feeds=tuple(inputs.place(where) for where in feeds), next=tuple(output_by_place[i] for i in reached),
        stacked=tuple(output_by_place[place] for place in items),
        summed=tuple((output_by_place[place], inputs.place(like)) for place, like in zip(fixed, likes, strict=True)),
        limited=True, backwards=not loop.backwards, types=tuple(types))
    counter = apply(CONSTANT, (), {'dtype': int32, 'value': np.int32(0)}, 'grad_counter')
    outputs = repeat(WHILE if has_state(backward.graph) else STATELESS_WHILE, (counter, node.recorded()[0]), inputs.pool(),
                     backward_loop, {}, 'while_grad')
    if not context.get_default_graph().building_function:
        outputs = [apply(IDENTITY, (output,)) for output in outputs]
    outputs = outputs[2:]
    for place, output in zip([*reached, *items, *fixed], outputs, strict=True):
        outcome[place] = output


def _types(inputs: Sequence[TypedInput], attrs: Attrs) -> Sequence[Output]:
    return attrs['_py_loop'].types  # type: ignore[no-any-return]


def _hidden(node: Node) -> Sequence[Output]:
    """The number of iterations, and a list for each tensor of the body."""
    return [(int32, _SCALAR), *((variant, _SCALAR) for _ in node.attrs['_py_loop'].body.available())]


def _restore_loop(inputs: Sequence[Any], attrs: Attrs, functions: Any) -> Attrs:
    from pyfuncdbg.hosts.numpy.runtime.control_flow.loop_import import restore_loop  # only needed to read a graph
    return restore_loop(inputs, attrs, functions)


for _name in (WHILE, STATELESS_WHILE):
    register(OpDef(_name, run, _types, gradient, outputs=-1, stateful=_name == WHILE,
                   kernel_attrs=('_py_loop', 'hidden_needed'),
                   in_execution=True, hidden=_hidden, python=True, sealed=True, sparse=True, restore=_restore_loop))

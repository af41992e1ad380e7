"""`tf.hessians`: second derivatives by all pairs of elements, as nodes of a graph."""
from __future__ import annotations

import math
from typing import Any

from pyfuncdbg.ops.constant import convert_to_tensor
from pyfuncdbg.ops.joining import stack
from pyfuncdbg.ops.shaping import reshape
from pyfuncdbg.runtime.gradients import gradients_v1


def hessians(ys: Any, xs: Any, gate_gradients: bool = False, aggregation_method: Any = None,
             name: str = 'hessians') -> list[Any]:
    """The second derivatives of the sum of `ys` by the elements of each of `xs`: its shape, twice.

    Args:
        ys: Tensor or list of tensors.
        xs: Tensor or list of tensors of known shape.
        gate_gradients: As for `gradients`.
        aggregation_method: As for `gradients`.
        name: The name scope of the gradients.

    Raises:
        ValueError: `ys` do not depend on one of `xs`, or its shape is not known.
    """
    return hessians_v1(ys, xs, name, False, gate_gradients, aggregation_method)


def hessians_v1(ys: Any, xs: Any, name: str = 'hessians', colocate_gradients_with_ops: bool = False,
                gate_gradients: bool = False, aggregation_method: Any = None) -> list[Any]:
    """`hessians` of TensorFlow 1, with its order of arguments."""
    sources = list(xs) if isinstance(xs, (list, tuple)) else [xs]
    rest = colocate_gradients_with_ops, gate_gradients, aggregation_method
    return [_hessian(gradient, x, rest) for gradient, x in zip(gradients_v1(ys, sources, None, 'gradients', *rest), sources,
                                                               strict=True)]


def _hessian(gradient: Any, x: Any, rest: Any) -> Any:
    if gradient is None:
        raise ValueError("Tried to convert 'tensor' to a tensor and failed. Error: None values not supported.")
    if not x.shape.is_fully_defined():
        raise ValueError(f'a hessian needs a source of known shape, got {x.shape}')
    sizes = x.shape.as_list()
    flat = reshape(gradient, [-1])
    rows = [convert_to_tensor(gradients_v1(flat[i], x, None, 'gradients', *rest)[0]) for i in range(math.prod(sizes))]
    return reshape(stack(rows), [*sizes, *sizes])

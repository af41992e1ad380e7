"""`tf.hessians`: second derivatives by all pairs of elements, as a loop in a graph."""
from __future__ import annotations

from typing import Any

from pyfuncdbg.hosts.numpy.graph.types.dtypes import int32
from pyfuncdbg.hosts.numpy.ops.arrays.joining import concat
from pyfuncdbg.hosts.numpy.ops.arrays.shaping import reshape, shape, size
from pyfuncdbg.hosts.numpy.ops.control.tensor_array import TensorArray
from pyfuncdbg.hosts.numpy.ops.control.while_loop import while_loop
from pyfuncdbg.hosts.numpy.ops.definition.constant import constant
from pyfuncdbg.hosts.numpy.runtime.differentiation.symbolic_gradients import gradients_v1


def hessians(ys: Any, xs: Any, gate_gradients: bool = False, aggregation_method: Any = None,
             name: str = 'hessians') -> list[Any]:
    """The second derivatives of the sum of `ys` by the elements of each of `xs`: its shape, twice.

    Args:
        ys: Tensor or list of tensors.
        xs: Tensor or list of tensors.
        gate_gradients: As for `gradients`.
        aggregation_method: As for `gradients`.
        name: The name scope of the gradients.

    Raises:
        ValueError: `ys` do not depend on one of `xs`, or their gradient does not.
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
    """A loop over the elements of the gradient, as in TensorFlow: their number need not be known yet."""
    if gradient is None:
        raise ValueError("Tried to convert 'tensor' to a tensor and failed. Error: None values not supported.")
    flat, count = reshape(gradient, [-1]), size(x)

    def row(number: Any, rows: Any) -> tuple[Any, Any]:
        return number + 1, rows.write(number, gradients_v1(flat[number], x, None, 'gradients', *rest)[0])

    start = constant(0, int32), TensorArray(x.dtype, count)
    _, rows = while_loop(lambda number, _: number < count, row, start)
    sizes = shape(x)
    return reshape(rows.stack(), concat((sizes, sizes), 0))

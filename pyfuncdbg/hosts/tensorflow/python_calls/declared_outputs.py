"""Outputs that `Tout` declares, as attributes of a function's site; TensorFlow does not check all of it.

A TensorSpec's shape is never looked at, and an eager `numpy_function` does not look at `Tout` at all. On the thread of a
call.
"""
from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from pyfuncdbg.hooks.graph_context import DECLARED_SHAPES
from pyfuncdbg.hosts.tensorflow.python_calls.user_function import output_specs
from pyfuncdbg.hosts.tensorflow.tensorflow_parts import TensorFlowParts


def declared(parts: TensorFlowParts, outputs: Sequence[Any]) -> dict[str, Any]:
    """'Tout' (dtypes by name) and the shapes of an eager call's outputs; nothing where `Tout` holds something else."""
    try:
        names = [parts.dtypes.as_dtype(getattr(output, 'dtype', output)).name for output in outputs]
    except (TypeError, AttributeError):         # an eager `numpy_function` takes anything as Tout
        return {}
    return {'Tout': names, **declared_shapes(outputs)} if names else {}


def declared_shapes(specs: Sequence[Any]) -> dict[str, Any]:
    """The shapes of those outputs that have a TensorSpec with a rank; nothing where there is none."""
    said: list[Any] = [getattr(spec, 'shape', None) for spec in specs]
    shapes = [shape.as_list() if getattr(shape, 'rank', None) is not None else None for shape in said]
    return {DECLARED_SHAPES: shapes} if any(shape is not None for shape in shapes) else {}


def eager_outputs(registered: Any) -> tuple[Any, ...]:
    """The declared outputs of an eager `py_function`: TensorSpecs if `Tout` has nothing else, else dtypes."""
    return tuple(output_specs(registered) or registered._out_dtypes)


def plain_outputs(tout: Any) -> tuple[Any, ...]:
    """The same of an eager `numpy_function`, by its `Tout`."""
    return tuple(tout) if isinstance(tout, (list, tuple)) else (tout,)

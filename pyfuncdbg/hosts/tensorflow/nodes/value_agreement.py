"""Agreement of a node recomputed for display with the session's value: TensorFlow runs nodes fused, as one.

The kernel of several nodes does not give exactly what its parts would: oneDNN's MatMul with Relu makes 0 of NaN. Asked by a
walk, on the thread of the run.
"""
from __future__ import annotations

import numpy as np

from pyfuncdbg.hooks.call import current
from pyfuncdbg.hooks.output import numpy_errstate
from pyfuncdbg.hooks.output.output import Output

OTHERWISE = 'otherwise'
"""The remark on a call whose outputs are the session's own, while the node alone gives others."""


def agree(one: np.ndarray, other: np.ndarray) -> bool:
    """Whether two values are the same up to rounding, NaN and infinities included."""
    if one.shape != other.shape or one.dtype != other.dtype:
        return False
    if one.dtype.hasobject:
        return bool(one.tolist() == other.tolist())
    if one.tobytes() == other.tobytes():
        return True
    if one.dtype.kind in 'biuSUM':
        return False
    token = numpy_errstate.state.set(numpy_errstate.IGNORE)     # the program's would warn or raise in its name
    try:
        return _near(one, other)
    finally:
        numpy_errstate.state.reset(token)


def _near(one: np.ndarray, other: np.ndarray) -> bool:
    """The same of floating-point numbers."""
    wide = np.complex128 if one.dtype.kind == 'c' else np.float64
    first, second = one.astype(wide), other.astype(wide)
    finite = np.isfinite(first)
    if not np.array_equal(finite, np.isfinite(second)):
        return False
    if not np.array_equal(first[~finite], second[~finite], equal_nan=True):
        return False
    first, second = np.abs(first[finite]), np.abs(first[finite] - second[finite])
    return not first.size or bool(second.max() <= _epsilon(one.dtype) ** 0.5 * max(first.max(), 1e-30))


def _epsilon(dtype: np.dtype) -> float:
    """Of the type's arithmetic; the small floats are not NumPy's own."""
    return float(np.finfo(dtype).eps) if dtype.kind in 'fc' else 2.0 ** -7


def remark() -> None:
    """Note on the call that goes on here that its node alone gives something else."""
    call = current.get()
    if call is None or call.output is not None:
        return
    output = call.output = Output(call.started)
    output.open = True
    output.add('host', '', OTHERWISE)
    output.open = False

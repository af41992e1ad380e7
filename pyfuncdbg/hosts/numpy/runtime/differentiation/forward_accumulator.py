"""`tf.autodiff.ForwardAccumulator`: forward-mode directional derivatives.

A gradient is linear in its seed, and the derivative of this linear map is the derivative along a
direction, so a tape suffices (double backward).
"""
from __future__ import annotations

from typing import Any

from pyfuncdbg.hosts.numpy.graph.tensor import Tensor
from pyfuncdbg.hosts.numpy.graph.types import nest
from pyfuncdbg.hosts.numpy.graph.types.convert import to_array
from pyfuncdbg.hosts.numpy.runtime.backward.backward_pass import ones_like
from pyfuncdbg.hosts.numpy.runtime.backward.unconnected_gradient import UnconnectedGradients, connected_or, zeros_of
from pyfuncdbg.hosts.numpy.runtime.differentiation.tape import GradientTape
from pyfuncdbg.hosts.numpy.runtime.execution.eager_tensor import EagerTensor


class ForwardAccumulator:
    """Directional derivatives of tensors computed in its block, along `tangents` of `primals`.

    Args:
        primals: A tensor, variable, or structure of them.
        tangents: The direction: a tensor of the same shape for each.
    """

    def __init__(self, primals: Any, tangents: Any) -> None:
        nest.assert_same_structure(primals, tangents)
        self._primals = nest.flatten(primals)
        self._tangents = [t if isinstance(t, Tensor) else EagerTensor(to_array(t, p.dtype))
                          for p, t in zip(self._primals, nest.flatten(tangents), strict=True)]
        self._tape: GradientTape | None = None
        self._recording = False

    def __enter__(self) -> ForwardAccumulator:
        if self._recording:
            raise ValueError('Accumulator is already recording.')
        self._tape = GradientTape(persistent=True, watch_accessed_variables=False)
        self._tape.__enter__()
        self._tape.watch(self._primals)
        self._recording = True
        return self

    def __exit__(self, *exception: object) -> None:
        assert self._tape is not None
        self._tape.__exit__(*exception)
        self._recording = False

    def jvp(self, primals: Any, unconnected_gradients: Any = UnconnectedGradients.NONE) -> Any:
        """The directional derivative of each of `primals`, which were computed in the block.

        Returns:
            A tensor of the same shape for each; None, or zeros, where it is unconnected.

        Raises:
            ValueError: Nothing was computed in the block yet.
        """
        if self._tape is None:
            raise ValueError('Called jvp() without first tracing anything.')
        unconnected = connected_or(unconnected_gradients)

        def along(tensor: Any) -> Any:
            tangent = self._along(tensor)
            return zeros_of(tensor) if tangent is None and unconnected == 'zero' else tangent
        return nest.map_structure(along, primals)

    def _along(self, tensor: Any) -> Any:
        assert self._tape is not None
        for primal, tangent in zip(self._primals, self._tangents, strict=True):
            if tensor is primal:
                return tangent
        if self._recording:
            with self._tape.stop_recording():
                return self._pulled_twice(tensor)
        return self._pulled_twice(tensor)

    def _pulled_twice(self, tensor: Any) -> Any:
        assert self._tape is not None
        with GradientTape() as outer:
            seed = ones_like(tensor)
            outer.watch(seed)
            gradients = self._tape.gradient(tensor, self._primals, seed)
        pairs = [(g, t) for g, t in zip(gradients, self._tangents, strict=True) if g is not None]
        if not pairs:
            return None
        return outer.gradient([g for g, _ in pairs], seed, [t for _, t in pairs])

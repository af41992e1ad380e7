"""Names of PyTorch's ops as a user types them: 'mul', 'aten.mul', 'aten::mul', 'layers.0/mul_1'.

Asked where a breakpoint is set, on any thread.
"""
from __future__ import annotations

import re

from pyfuncdbg.hooks.op_names import NamedOp
from pyfuncdbg.hosts.torch.torch_parts import TorchParts

_NAME = re.compile(r'(?:.*/|)(?:(\w+)(?:\.|::)|)(\w+?)(?:_\d+|)', re.DOTALL)
"""A scope, a namespace, the op, and a number that makes the name unique."""
_FUNCTION = re.compile(r'torch\.(?:\w+\.)*(\w+)')
_DEFAULT = 'aten'
_COMPOSITE = 'CompositeImplicitAutograd'
_FUSED = 'code that torch.compile has compiled fuses ops, and runs none by its name'


class TorchOpNames:
    """Lookup of PyTorch's ops by name.

    Args:
        parts: Modules of the imported PyTorch.
        seen: Whether ops of this version are seen.
    """

    def __init__(self, parts: TorchParts, seen: bool) -> None:
        self._schemas = parts.native._jit_get_schemas_for_operator
        self._has_kernel = parts.native._dispatch_has_kernel_for_dispatch_key
        self._custom_ops = parts.custom_ops.OPDEFS
        self._seen = seen

    def __call__(self, name: str) -> NamedOp | None:
        """The op that a name means; none where its kernel is a Python function, which is a call of its own."""
        function = _FUNCTION.fullmatch(name)
        if function is not None:
            op = self(function[1])
            if op is None or not op.stops:
                return op
            return NamedOp(False, f"{name!r} is a function of PyTorch's; its op is {_DEFAULT}.{function[1]}")
        match = _NAME.fullmatch(name)
        if match is None:
            return None
        qualified = f'{match[1] or _DEFAULT}::{match[2]}'
        overloads = [schema.overload_name for schema in self._schemas(qualified)]
        if not overloads or qualified in self._custom_ops:
            return None
        if not self._seen:
            return NamedOp(False, 'ops of this version of PyTorch are not seen')
        if all(self._is_composite(qualified, overload) for overload in overloads if 'out' not in overload):
            return NamedOp(False, f'PyTorch carries out {match[2]!r} by other ops, which a recording with --ops names')
        return NamedOp(True, _FUSED)

    def _is_composite(self, name: str, overload: str) -> bool:
        """Whether an overload calls other ops, before any of our modes: it is never seen itself."""
        try:
            return bool(self._has_kernel(f'{name}.{overload}' if overload else name, _COMPOSITE))
        except RuntimeError:                    # an overload of TorchScript's alone
            return True

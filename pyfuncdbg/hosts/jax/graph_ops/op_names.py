"""Names of JAX's ops: its primitives. Asked where a breakpoint is set, on any thread."""
from __future__ import annotations

from typing import Any

from pyfuncdbg.hooks.op_names import NamedOp

_ONLY_RECORDED = "ops of JAX stop under --ops only, where a jitted function that is compiled then has them"


def named_primitive(jax: Any, name: str) -> NamedOp | None:
    """The primitive of `jax.lax` with a name, None if there is none.

    Args:
        jax: The imported package.
        name: As typed.
    """
    primitives = [value for attribute, value in vars(jax.lax).items() if attribute.endswith('_p')]
    return NamedOp(False, _ONLY_RECORDED) if any(getattr(one, 'name', '') == name for one in primitives) else None

"""AutoGraph: what converted functions call, and what programs say about conversion.

Importing the package puts `ag__` where converted functions find it; what stands behind it is loaded when one runs.
"""
from typing import Any

from pyfuncdbg.hooks.source_map import add_relays
from pyfuncdbg.hosts.numpy.runtime.autograph import converted_call


class _Operators:
    """Lazy loader of the operators, which replaces itself at first use."""

    def __getattr__(self, name: str) -> Any:
        from pyfuncdbg.hosts.numpy.ops.autograph import operators as loaded  # programs that trace nothing do without
        converted_call.operators.cell_contents = loaded
        return getattr(loaded, name)


converted_call.operators.cell_contents = _Operators()
add_relays(__name__)

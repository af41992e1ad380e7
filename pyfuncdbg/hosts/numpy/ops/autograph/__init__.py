"""AutoGraph: the operators of converted functions, and `tf.autograph`.

Importing the package registers `ag__`, the operators of converted functions; their modules are loaded when one runs.
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

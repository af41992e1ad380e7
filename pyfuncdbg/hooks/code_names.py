"""Names that code reads, from its instructions. No state: any thread may ask."""
from __future__ import annotations

import dis
from collections.abc import Iterator
from types import CodeType

GLOBAL_LOADS = frozenset(('LOAD_GLOBAL', 'LOAD_NAME', 'LOAD_FROM_DICT_OR_GLOBALS'))
"""Instructions that read a global variable."""


def names_in(code: CodeType) -> Iterator[tuple[str, str]]:
    """The names that code reads, and that functions written in it read.

    Args:
        code: Of a function or module.

    Yields:
        'global', 'attribute' or 'module' (of an import in it), and the name.
    """
    for instruction in dis.get_instructions(code):
        if instruction.opcode in dis.hasname:
            kind = ('global' if instruction.opname in GLOBAL_LOADS else
                    'module' if instruction.opname == 'IMPORT_NAME' else 'attribute')
            yield kind, str(instruction.argval)
    for constant in code.co_consts:
        if isinstance(constant, CodeType):
            yield from names_in(constant)

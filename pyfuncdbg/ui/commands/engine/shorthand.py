"""Shorthand for commands: ipdb's `x?` and `x??`, tfdbg's `@1,0`. Pure."""
from __future__ import annotations

import re

_QUESTION = re.compile(r'\s*(?:(?P<front>\?\??)\s*(?P<after>[^?\s]+)|(?P<before>[^?\s]+)\s*(?P<back>\?\??))\s*')
_ELEMENTS = re.compile(r'\s*@\s*(\[[^\[\]]*\]|[-+\d:.][-+\d:.,\s]*)\s*')


def as_command(line: str, *, at_stop: bool) -> str:
    """'pinfo x' for 'x?', 'pinfo2 x' for 'x??' at a stop; 'pt @[1, 0]' for tfdbg's '@1,0'; any other line as it is."""
    if (elements := _ELEMENTS.fullmatch(line)) is not None:
        return f'pt @[{elements[1].strip().removeprefix("[").removesuffix("]")}]'
    if not at_stop:
        return line
    found = _QUESTION.fullmatch(line) if '?' in line else None
    if found is None:
        return line
    name = 'pinfo2' if len(found['front'] or found['back']) == 2 else 'pinfo'
    return f'{name} {found["after"] or found["before"]}'

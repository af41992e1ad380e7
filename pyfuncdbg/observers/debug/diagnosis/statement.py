"""Text of the program's statement around a line, which a trace keeps for findings.

Read where the program runs, for its files may be elsewhere later. Nothing is executed.
"""
from __future__ import annotations

import io
import linecache
import textwrap
import tokenize
from functools import lru_cache

_LONGEST = 4_000
_BETWEEN = frozenset((tokenize.NL, tokenize.COMMENT, tokenize.INDENT, tokenize.DEDENT, tokenize.ENDMARKER))
"""Tokens that no statement begins with."""


def statement_at(filename: str, line: int) -> str:
    """The innermost statement around a line of a file, dedented; of one with a body its head; '' if unknown.

    Asked in the program's process, on a thread of ours: `ast.parse` there would make one of the program's own fail, which on
    Python 3.11 is not safe with threads. Tokens tell where statements begin and end as well.
    """
    lines = linecache.getlines(filename)
    first, last = next(((first, last) for first, last in _statements(''.join(lines)) if first <= line <= last), (0, 0))
    text = textwrap.dedent(''.join(lines[first - 1:last])).strip() if first else ''
    return text if len(text) <= _LONGEST else ''             # half a statement mends nothing


@lru_cache(maxsize=8)
def _statements(text: str) -> tuple[tuple[int, int], ...]:
    """First and last line of each statement, or of its head."""
    found: list[tuple[int, int]] = []
    first = 0
    try:
        for token in tokenize.generate_tokens(io.StringIO(text).readline):
            if token.type == tokenize.NEWLINE:
                found.append((first, token.start[0]))
                first = 0
            elif not first and token.type not in _BETWEEN:
                first = token.start[0]
    except (tokenize.TokenError, SyntaxError):  # what comes before that is told all the same
        pass
    return tuple(found)

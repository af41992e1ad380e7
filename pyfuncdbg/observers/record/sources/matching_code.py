"""Agreement of source lines with code objects: whether a text is the one that a function was compiled from.

Compares the names in the instructions with the text at their positions. Nothing is parsed or compiled, which could print
warnings of the program's code once more. Asked by the writer of a trace for files that are newer than the process.
"""
from __future__ import annotations

import dis
import re
import sys
from collections.abc import Iterator, Mapping, Sequence
from types import CodeType, FunctionType
from typing import Any

from pyfuncdbg.hooks.patched_code import original_code

_NUMBER = re.compile(r'\d[\d_]*(\.\d[\d_]*)?([eE][+-]?\d+)?')
_TEXT = re.compile(r"""[rRuU]?(['"])([^'"\\]*)\1""")
_OPERATORS = ('BINARY_OP', 'COMPARE_OP')
_BOOL = re.compile(r'bool\((.*)\)')
_END = re.compile(r'[\s)\]},;:"\']*((and|or|if|else|not|is|in|[-+*/%@&|^<>=!.(\[{]+)\s*)*\\?\s*(#.*)?')
"""Text that may follow code on its line: closing brackets, or an operator whose operand is on the next line."""
_FORMATTED = re.compile(r"""[fF][rR]?['"]""")
"""A text whose parts have no places of their own in Python 3.11."""
_REST = 1 << 20
_MOST = 64
"""Functions of a module that are compared."""


def matches_code(code: CodeType, lines: Sequence[str]) -> bool:
    """Whether the names, operators and literals of a function are where its code says, and nothing is behind them.

    Args:
        code: Of the function.
        lines: Of its file.

    Returns:
        False if the text was edited since.
    """
    first = code.co_firstlineno
    last = max((line for _, _, line in code.co_lines() if line is not None), default=first)
    if last > len(lines) or not _has_head(code, '\n'.join(lines[first - 1:last])):
        return False
    ends: dict[int, int] = {}
    for instruction in dis.get_instructions(code):
        at = instruction.positions
        if at is None or not at.lineno or not at.end_lineno or at.col_offset is None or at.end_col_offset is None:
            continue
        if at.end_lineno > len(lines):
            return False
        if at.lineno != at.end_lineno:
            ends[at.lineno] = _REST
        else:
            part = _part(lines[at.lineno - 1], at.col_offset, at.end_col_offset)
            if not _matches_text(instruction, part, lines[at.lineno - 1]):
                return False
            end = _end_of(instruction, lines[at.lineno - 1], at.end_col_offset)
            ends[at.lineno] = max(ends.get(at.lineno, 0), end)
    if code.co_name.isidentifier():             # behind a lambda its statement goes on
        ends.pop(first, None)
        rests = [_part(lines[line - 1], end, _REST) for line, end in ends.items()
                 if end and not _FORMATTED.search(lines[line - 1])]
        if not all(map(_END.fullmatch, rests)):
            return False
    return all(matches_code(inner, lines) for inner in code.co_consts if isinstance(inner, CodeType))


def _end_of(instruction: dis.Instruction, line: str, end: int) -> int:
    """The column behind an instruction; one for two variables (Python 3.13) has the place of the first."""
    names = instruction.argval
    if not isinstance(names, tuple) or 'CONST' in instruction.opname or not isinstance(names[-1], str):
        return end
    second = re.match(rf'[^#]*\b{re.escape(_source_name(names[-1]))}\b', _part(line, end, _REST))
    return end if second is None else end + len(second[0].encode('utf-8', 'replace'))


def _has_head(code: CodeType, text: str) -> bool:
    """Whether the name, the parameters and the docstring of a function are in its text."""
    count = code.co_argcount + code.co_kwonlyargcount
    names = [code.co_name, *code.co_varnames[:count]]
    docstring = code.co_consts[0] if code.co_consts and code.co_name.isidentifier() else None
    docstring_lines = docstring.split('\n') if isinstance(docstring, str) and '\\' not in text else []
    return all(_holds(text, _source_name(name)) for name in names) and all(line.strip() in text for line in docstring_lines)


def _part(line: str, start: int, end: int) -> str:
    """A part of a line by its columns, which count bytes."""
    return line[start:end] if line.isascii() else line.encode('utf-8', 'replace')[start:end].decode('utf-8', 'replace')


def matches_module(filename: str, lines: Sequence[str]) -> bool:
    """Whether the functions of the module that was loaded from a file are those of a text.

    Args:
        filename: Of the module.
        lines: Of the text.

    Returns:
        False also if the module has no functions.
    """
    codes = list(_functions(filename))[:_MOST]
    return bool(codes) and all(matches_code(code, lines) for code in codes)


def _holds(text: str, name: str) -> bool:
    """Whether a name is in a line; names that the compiler makes, such as '<lambda>', are in none."""
    return not name.isidentifier() or name in text


def _matches_text(instruction: dis.Instruction, part: str, line: str) -> bool:
    name, value = instruction.opname, instruction.argval
    if name in _OPERATORS:
        return _BOOL.sub(r'\1', instruction.argrepr) in part
    if name == 'LOAD_CONST':
        return _is_literal(part, value)
    if name.startswith('LOAD_') and part != 'super()':
        names = value if isinstance(value, tuple) else (value,)
        sources = [_source_name(one) for one in names if isinstance(one, str)]
        if part.isidentifier() and len(sources) == 1:
            return sources[0] in ('', part) or not sources[0].isidentifier()
        if name in ('LOAD_ATTR', 'LOAD_METHOD') and len(sources) == 1:
            return part.rstrip(') ').endswith(sources[0])
        return all(_holds(line, one) for one in sources)
    return not name.startswith(('CALL', 'BUILD_')) or '"' in part or "'" in part or all(
        part.count(opened) == part.count(closed) for opened, closed in ('()', '[]', '{}'))


def _source_name(name: str) -> str:
    """A private name as it was before its class's was put in front; '' of what the compiler uses by itself."""
    if name.startswith('__'):
        return ''
    return name[name.index('__', 1):] if name.startswith('_') and '__' in name[1:] else name


def _is_literal(part: str, value: Any) -> bool:
    """Whether a constant is that of a literal; of anything else but a plain number or text it is taken to be."""
    if value is None:                           # what the compiler puts behind a `with` or a handler
        return True
    if type(value) in (int, float) and _NUMBER.fullmatch(part):
        return bool(float(part) == value)
    match = _TEXT.fullmatch(part)
    if isinstance(value, str):
        return match is None or match[2] == value
    return _NUMBER.fullmatch(part) is None


def _functions(filename: str) -> Iterator[CodeType]:
    """The code of the functions of a module, without asking it for anything: a lazy one would load."""
    for module in list(sys.modules.values()):
        try:
            names: Mapping[str, Any] = object.__getattribute__(module, '__dict__')
        except AttributeError:
            continue
        if names.get('__file__') == filename:
            for value in list(names.values()):
                if type(value) is FunctionType and value.__code__.co_filename == filename:
                    yield original_code(value.__code__)

"""The text of a source line that a trace names: from the trace if it holds the function, else from the file if it is there.

A trace is untrusted: only regular files of a sane size are read, nothing is imported.
"""
from __future__ import annotations

import ast
import functools
import linecache
import os
import stat
import sysconfig
import textwrap
import tokenize

from rich.text import Text

from pyfuncdbg.hooks import cell
from pyfuncdbg.record.records import SiteRecord
from pyfuncdbg.views.escape import one_line, shortened, visible

FILE_LIMIT = 4_000_000


def line_text(filename: str, line: int, site: SiteRecord | None = None) -> str:
    """The line without its indentation, '' if unknown.

    Args:
        filename: As the trace has it.
        line: From 1.
        site: Whose recorded function may hold the line: its text is the one that ran, the file may have changed since.
    """
    first, lines = _lines(filename, line, site)
    return lines[line - first].strip() if lines else ''


def excerpt(filename: str, line: int, site: SiteRecord | None = None, *, before: int = 2, after: int = 1) -> Text:
    """The line marked with '>' between its neighbours, with line numbers; empty if unknown."""
    first, lines = _lines(filename, line, site)
    if not lines:
        return Text()
    numbers = range(max(first, line - before), min(first + len(lines), line + after + 1))
    texts = textwrap.dedent('\n'.join(visible(lines[n - first]) or ' ' for n in numbers)).split('\n')
    width = len(str(numbers[-1]))
    rows = [Text.assemble((f'{">" if n == line else " "} {n:>{width}} | ', 'bold red' if n == line else 'dim'),
                          (shortened(text, 200), 'bold' if n == line else 'dim'), overflow='fold')
            for n, text in zip(numbers, texts, strict=True)]
    return Text('\n').join(rows)


def _lines(filename: str, line: int, site: SiteRecord | None) -> tuple[int, list[str]]:
    """Known lines around one and the number of the first of them; none if that line is not among them."""
    first, lines = 1, []
    if site is not None and site.source and site.filename == filename:
        first, lines = site.line, site.source.splitlines()
    if not 0 <= line - first < len(lines):
        first, lines = 1, file_lines(filename)
    return (first, lines) if 0 <= line - first < len(lines) else (line, [])


def place(filename: str, line: int, *, full: bool = False) -> Text:
    """'model.py:42', underlined; the whole path if `full`."""
    if not filename:
        return Text('unknown place', 'dim')
    name = filename if full or filename.startswith('<') else filename.replace('\\', '/').rsplit('/', 1)[-1]
    name = cell.labels.get(filename, name)
    return Text(one_line(f'{name}:{line}' if line else name, 0 if full else 60), 'underline', overflow='fold')


def parameters(site: SiteRecord) -> tuple[str, ...]:
    """Names of the function's positional parameters as recorded, () if its text is unknown."""
    if not site.source or len(site.source) > 100_000:
        return ()
    return _parameters(site.source)


@functools.lru_cache(256)
def _parameters(source: str) -> tuple[str, ...]:
    try:
        tree = ast.parse(textwrap.dedent(source))
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return ()                               # a lambda cut out of its statement, or hostile text
    for node in ast.walk(tree):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda):
            return tuple(arg.arg for arg in (*node.args.posonlyargs, *node.args.args))
    return ()


def of_the_user(filename: str) -> bool:
    """Whether a frame's file is neither a library's, nor the interpreter's, nor ours."""
    path = filename.replace('\\', '/')
    if '/pyfuncdbg/demo/' in path:              # a program like a user's
        return True
    if path.startswith((_OURS, '<frozen ')) or '/site-packages/' in path or '/dist-packages/' in path:
        return False
    return not path.startswith(_LIBRARY) and '/lib/python3.' not in path


_OURS = os.path.dirname(os.path.dirname(os.path.abspath(__file__))).replace('\\', '/') + '/'
_LIBRARY = sysconfig.get_path('stdlib').replace('\\', '/') + '/'


def file_lines(filename: str) -> list[str]:
    """The lines of a file as it is now; none if there is no such regular file of a sane size."""
    cached = linecache.cache.get(filename)      # notebook cells have no file
    if cached is not None and len(cached) == 4 and (filename.startswith('<') or filename in cell.labels):
        return list(cached[2])
    try:
        status = os.stat(filename)
    except (OSError, ValueError):
        return []
    if not stat.S_ISREG(status.st_mode) or status.st_size > FILE_LIMIT:
        return []
    return _read(filename, status.st_mtime_ns, status.st_size)


@functools.lru_cache(64)
def _read(filename: str, changed: int, size: int) -> list[str]:
    try:
        with tokenize.open(filename) as file:
            return file.read(FILE_LIMIT).splitlines()
    except (OSError, SyntaxError, UnicodeError, ValueError):
        return []


if __name__ == '__main__':
    from pyfuncdbg.views.page import demo
    demo(Text.assemble(place(__file__, 1, full=True), '  ', line_text(__file__, 1)))

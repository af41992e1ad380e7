"""Source lines of a recorded program: a line, an excerpt, the reason why it is unknown; names of places.

Drawn from what records give; no file is opened here. Any thread.
"""
from __future__ import annotations

import ast
import functools
import textwrap

from rich.text import Text

from pyfuncdbg.hooks import notebook_cell
from pyfuncdbg.hooks.own_files import is_program_file
from pyfuncdbg.hooks.syntax_tree import tree_of
from pyfuncdbg.observers.debug.inspecting.creation_line import Unlocated
from pyfuncdbg.observers.record.records import SiteRecord
from pyfuncdbg.observers.record.sources.source_text import SourceText
from pyfuncdbg.ui.views.escape import one_line, shorten, visible
from pyfuncdbg.ui.views.units import count

_ATTACH = "attach before the graph is made, or start the program with 'pyfuncdbg run'"


def line_text(source: SourceText, line: int, filename: str = '') -> Text:
    """The line without its indentation; in its place why it is not known, of a library's file nothing.

    Args:
        source: What the record knows of it.
        line: Number of the line.
        filename: Whose line it is, '' if that does not matter.
    """
    if not source.missing:
        return Text(one_line(source.line(line), 300))
    return _missing_line(source) if not filename or is_program_file(filename) else Text()


def excerpt(source: SourceText, line: int, *, before: int = 2, after: int = 1) -> Text:
    """The line marked with '>' between its neighbours, with line numbers; in their place why they are not known."""
    if source.missing:
        return _missing_line(source)
    first, lines = source.first, source.lines
    numbers = range(max(first, line - before), min(first + len(lines), line + after + 1))
    texts = textwrap.dedent('\n'.join(visible(lines[n - first]) or ' ' for n in numbers)).split('\n')
    width = len(str(numbers[-1]))
    rows = [Text.assemble((f'{">" if n == line else " "} {n:>{width}} | ', 'bold red' if n == line else 'dim'),
                          (shorten(text, 200), 'bold' if n == line else 'dim'), overflow='fold')
            for n, text in zip(numbers, texts, strict=True)]
    return Text('\n').join(rows)


def _missing_line(source: SourceText) -> Text:
    return Text(f'({one_line(source.missing, 100)})', 'dim italic')


def place(filename: str, line: int, *, full: bool = False) -> Text:
    """'model.py:42', underlined; the whole path if `full`."""
    if not filename:
        return Text('unknown place', 'dim')
    name = filename if full or filename.startswith('<') else filename.replace('\\', '/').rsplit('/', 1)[-1]
    name = notebook_cell.labels.get(filename, name)
    return Text(one_line(f'{name}:{line}' if line else name, 0 if full else 60), 'underline', overflow='fold')


def site_place(site: SiteRecord) -> Text:
    """The place of a site's function; of a node, which has none, the line that made it."""
    made = site.stack[-1] if site.stack and not site.filename else site
    return place(made.filename, made.line)


def parameters(site: SiteRecord) -> tuple[str, ...]:
    """Names of the function's positional parameters as recorded, () if its text is unknown.

    Of a generator too: calls of it ask for the next element, and their input is the number of the iteration.
    """
    if not site.source or len(site.source) > 100_000:
        return ()
    names = _parameters(site.source)
    return names[1:] if site.traits.takes_context else names


@functools.lru_cache(256)
def _parameters(source: str) -> tuple[str, ...]:
    tree = tree_of(textwrap.dedent(source))
    for node in ast.walk(tree) if tree is not None else ():
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda):
            if _yields(node):
                return ()
            return tuple(arg.arg for arg in (*node.args.posonlyargs, *node.args.args))
    return ()


def _yields(function: ast.AST) -> bool:
    """Whether it is a generator; what is nested in it does not count."""
    for node in ast.iter_child_nodes(function):
        if isinstance(node, ast.Yield | ast.YieldFrom):
            return True
        if not isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda | ast.ClassDef) and _yields(node):
            return True
    return False


def unlocated_text(reason: Unlocated) -> Text | None:
    """The remark shown instead of the line; None where there is nothing to say."""
    if not reason:
        return None
    words = ('its line is not known, for it was read from a GraphDef or a saved model' if reason == 'imported' else
             f'its line is not known, for it was made before pyfuncdbg attached: {_ATTACH}')
    return Text(words, 'yellow', overflow='fold')


def unlocated_count(before: int, imported: int) -> Text | None:
    """The number of nodes that are missing in a list by line; None if none are."""
    if not before and not imported:
        return None
    words = []
    if before:
        words.append(f'{count(before, "node")} made before pyfuncdbg attached ({_ATTACH})')
    if imported:
        words.append(f'{count(imported, "node")} read from a GraphDef or a saved model')
    return Text(f'without a line: {" and ".join(words)}', 'yellow', overflow='fold')


if __name__ == '__main__':
    from pyfuncdbg.ui.views.sample_trace import demo, sample
    site = sample().call(3).site
    demo(place(site.filename, 44), excerpt(site.source_at(site.filename, 44), 44),
         excerpt(site.source_at('other.py', 7), 7))

"""`pinfo` and `pinfo2`, `x?` and `x??` in ipdb: type, value, signature, docstring and source of an object.

On the stopped thread, in the entry of the stack that is selected.
"""
from __future__ import annotations

import argparse
import inspect
from dataclasses import dataclass

from rich.console import RenderableType
from rich.text import Text

from pyfuncdbg.errors import CommandError
from pyfuncdbg.observers.debug.inspecting.scope import object_named
from pyfuncdbg.observers.debug.value import Value, describe_value
from pyfuncdbg.ui.commands.engine.command import Command, Context
from pyfuncdbg.ui.commands.print_values import value_of
from pyfuncdbg.ui.commands.resume import stop_of
from pyfuncdbg.ui.views.escape import one_line, visible
from pyfuncdbg.ui.views.page import Page, Part
from pyfuncdbg.ui.views.tensors.variable import value_page

_LONGEST = 20_000
"""Characters of a text or source."""
_SHOWN = 20
"""Lines of a docstring that `pinfo` shows."""


@dataclass(frozen=True, slots=True)
class ObjectInfo:
    """An object as it describes itself.

    Attributes:
        expression: As typed.
        type: Module and name of its class.
        value: What it is.
        signature: Of something that can be called, else ''.
        doc: Its docstring, '' if it has none of its own.
        file: Where its source is, 'FILE:LINE', else ''.
        source: Its source, '' if not requested or not available.
    """

    expression: str
    type: str
    value: Value
    signature: str
    doc: str
    file: str
    source: str


def _info(context: Context, args: argparse.Namespace, with_source: bool) -> ObjectInfo:
    around = object_named(stop_of(context), args.expression)
    value = value_of(context, args.expression) if around is None else around
    kind = type(value)
    known = inspect.isroutine(value) or inspect.isclass(value) or inspect.ismodule(value)
    file, source = _source(inspect.unwrap(value) if callable(value) else value) if known else ('', '')
    doc = inspect.getdoc(value) if known or with_source else None
    text = (doc or '')[:_LONGEST] if with_source else _first_lines((doc or '')[:_LONGEST], args.expression)
    return ObjectInfo(args.expression, f'{kind.__module__}.{kind.__qualname__}', describe_value(value), _signature(value),
                      text, file, source[:_LONGEST] if with_source else '')


def _first_lines(doc: str, expression: str) -> str:
    """A docstring that does not scroll the rest of the answer out of sight."""
    lines = doc.rstrip().split('\n')
    if len(lines) <= _SHOWN + 1:
        return doc
    return '\n'.join([*lines[:_SHOWN], f'... {len(lines) - _SHOWN} more lines: {expression}?? shows all'])


def _signature(value: object) -> str:
    try:
        return str(inspect.signature(value)) if callable(value) else ''
    except Exception:                           # the program's own object may answer anything
        return ''


def _source(value: object) -> tuple[str, str]:
    try:
        lines, first = inspect.getsourcelines(value)  # type: ignore[arg-type]
        return f'{inspect.getsourcefile(value)}:{max(first, 1)}', ''.join(lines)  # type: ignore[arg-type]
    except (OSError, TypeError, CommandError):  # a builtin, or code without source
        return '', ''


def _draw(info: ObjectInfo) -> RenderableType:
    parts: list[Part] = [value_page(info.value)]
    rows = (('type', info.type), ('signature', info.signature), ('file', info.file))
    parts += [Text.assemble((f'{name:<11}', 'dim'), one_line(text, 400), overflow='fold') for name, text in rows if text]
    for text in (info.doc, info.source):
        parts += [Text(''), Text(visible(text.rstrip()), overflow='fold')] if text else []
    return Page(*parts)


PINFO = Command('pinfo', "what an object is, its signature and docstring; ipdb's 'x?'", 'look',
                lambda context, args: _info(context, args, with_source=False), _draw, aliases=('pdoc',
                                                                                               'pdef'), needs_stop=True,
                expression='expression', examples=('pinfo np.linalg.norm', 'norm?'))
PINFO2 = Command('pinfo2', "the same, and its source; ipdb's 'x??'", 'look',
                 lambda context, args: _info(context, args,
                                             with_source=True), _draw, needs_stop=True, expression='expression',
                 examples=('pinfo2 norm', 'norm??'))
COMMANDS: tuple[Command, ...] = (PINFO, PINFO2)

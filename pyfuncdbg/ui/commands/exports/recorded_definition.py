"""The definition of a function in its recorded source: its place in the module, and which arguments it takes."""
from __future__ import annotations

import ast
import textwrap
from collections.abc import Sequence
from dataclasses import dataclass

from pyfuncdbg.errors import CommandError
from pyfuncdbg.observers.record.records import SiteRecord
from pyfuncdbg.ui.commands.exports.recorded_value import is_name
from pyfuncdbg.ui.views.escape import one_line


@dataclass(frozen=True, slots=True)
class RecordedDefinition:
    """The statement that defines a function, as far as its source was recorded."""

    node: ast.FunctionDef | ast.AsyncFunctionDef | None = None
    assigned: str = ''
    """Name that a lambda of a module was assigned to."""


def definition_of(site: SiteRecord) -> RecordedDefinition:
    """The definition in the recorded source; an empty one where it was not recorded."""
    try:
        statement = ast.parse(textwrap.dedent(site.source)).body[0]
    except (SyntaxError, ValueError, IndexError, RecursionError, MemoryError):      # a part of a line, or hostile
        return RecordedDefinition()
    if isinstance(statement, ast.FunctionDef | ast.AsyncFunctionDef):
        return RecordedDefinition(statement)
    if isinstance(statement, ast.Assign) and isinstance(statement.value, ast.Lambda) and not site.source[:1].isspace() and (
            isinstance(target := statement.targets[0], ast.Name)):
        return RecordedDefinition(assigned=target.id)
    return RecordedDefinition()


def path_in_module(site: SiteRecord, definition: RecordedDefinition) -> str:
    """'Model.make'; '' where no module has it under a name."""
    name = definition.assigned if site.function == '<lambda>' else site.function
    return name if name and all(is_name(part) for part in name.split('.')) else ''


def refuse_misfit(site: SiteRecord, definition: RecordedDefinition, inputs: int, keywords: Sequence[str]) -> None:
    """Where the program called it with other arguments than are known, a test would call another function."""
    if definition.node is None:
        return
    arguments = definition.node.args
    names = [each.arg for each in (*arguments.posonlyargs, *arguments.args)]
    most, by_name = len(names), {each.arg for each in arguments.kwonlyargs}
    needed = {each.arg for each, default in zip(arguments.kwonlyargs, arguments.kw_defaults, strict=True) if default is None}
    bound = bound_arguments(site, definition, most, inputs)
    missing = {*names[inputs + bound:most - len(arguments.defaults)], *needed} - set(keywords)
    unknown = set(keywords) - {*names[inputs + bound:], *by_name} if arguments.kwarg is None else set()
    if missing or unknown or (inputs + bound > most and arguments.vararg is None):
        raise CommandError(f'{one_line(site.function, 60)} takes other arguments than the {inputs} inputs of its call: the '
                           'program called it by a partial or a wrapper, whose arguments the trace lacks')


def bound_arguments(site: SiteRecord, definition: RecordedDefinition, most: int, inputs: int) -> int:
    """1 where the first argument is the object or class whose method it is."""
    if definition.node is None or (is_callable_object(site, definition) or 'classmethod' in decorators(definition)):
        return 1
    is_method = '.' in site.function and 'staticmethod' not in decorators(definition)
    first = [each.arg for each in (*definition.node.args.posonlyargs, *definition.node.args.args)][:1]
    return int(is_method and first == ['self'] and (most > inputs or definition.node.args.vararg is not None))


def parameters(site: SiteRecord, definition: RecordedDefinition, inputs: int) -> tuple[str, ...]:
    """Names of the parameters that get the inputs."""
    if definition.node is None:
        return ()
    names = [each.arg for each in (*definition.node.args.posonlyargs, *definition.node.args.args)]
    bound = bound_arguments(site, definition, len(names), inputs)
    return tuple(names[bound:bound + inputs])


def decorators(definition: RecordedDefinition) -> set[str]:
    assert definition.node is not None, 'the caller has looked'
    return {each.id for each in definition.node.decorator_list if isinstance(each, ast.Name)}


def is_callable_object(site: SiteRecord, definition: RecordedDefinition) -> bool:
    """Whether the program called an object: it is recorded under the name of its class."""
    return definition.node is not None and definition.node.name == '__call__' and not site.function.endswith('__call__')

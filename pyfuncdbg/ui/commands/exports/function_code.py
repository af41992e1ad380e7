"""Code that gives a generated file a function of the program: an import, or the recorded source.

A trace is untrusted: what of it becomes code is a checked identifier or a literal; its source only on the user's word.
"""
from __future__ import annotations

import ast
import keyword
import os
import re
import sysconfig
import textwrap
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path, PurePath

from pyfuncdbg.errors import CommandError
from pyfuncdbg.observers.record.records import SiteRecord
from pyfuncdbg.observers.record.sources.local_source import candidate
from pyfuncdbg.observers.record.trace import Trace
from pyfuncdbg.ui.commands.exports.recorded_source import recorded_source
from pyfuncdbg.ui.views.escape import one_line

_CELL = re.compile(r'[/\\]ipykernel_\d+[/\\]')
_INSTALLED = tuple({path for name, path in sysconfig.get_paths().items() if name in ('stdlib', 'purelib', 'platlib')})


@dataclass(frozen=True, slots=True)
class FunctionCode:
    """Code of one function.

    Attributes:
        expression: By which it is called: 'norm', 'Model.make', 'model.loss'.
        imports: Statements that import what it names.
        definition: Lines that define it instead, and blank ones around them.
        folder: From which its module is imported, '' if any interpreter finds it.
        fixture: Name of an object that the user has to make, whose method or which itself is called; ''.
        object_class: Its class.
        parameters: Names of the parameters for the inputs, as far as they are known.
        remarks: What the user should know before the function is imported.
    """

    expression: str
    imports: tuple[str, ...]
    definition: tuple[str, ...] = ()
    folder: str = ''
    fixture: str = ''
    object_class: str = ''
    parameters: tuple[str, ...] = ()
    remarks: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class _Definition:
    """The statement that defines a function, as far as its source was recorded."""

    node: ast.FunctionDef | ast.AsyncFunctionDef | None = None
    assigned: str = ''
    """Name that a lambda of a module was assigned to."""


class FunctionCodes:
    """The functions of one generated file: each is imported once, under a name of its own.

    Args:
        trace: Of the calls.
        reserved: Names that the file uses itself.
        with_source: Whether recorded source may become code of the file.
    """

    def __init__(self, trace: Trace, reserved: Sequence[str], *, with_source: bool) -> None:
        self._trace = trace
        self._with_source = with_source
        self._names: dict[str, tuple[str, str]] = dict.fromkeys(reserved, ('', ''))
        self._main = _path_of_main(trace.info().argv)

    def code_for(self, site: SiteRecord, inputs: int) -> FunctionCode:
        """The code for the function of a site.

        Args:
            site: Of a Python call.
            inputs: How many inputs the call has.

        Raises:
            CommandError: The function cannot be imported, and its source was not recorded or may not be used.
        """
        definition = _definition_of(site)
        name = _path_in_module(site, definition)
        why = _obstacle(site, name)
        if why and not self._with_source:
            raise CommandError(f'{one_line(site.function, 60)} cannot be imported: {why}. --with-source puts its recorded '
                               'source into the file: read it before you run it')
        if why:
            return self._with_recorded_source(site)
        _refuse_misfit(site, definition, inputs)
        folder, module = _module_of(site.filename)
        first, *rest = name.split('.')
        own = self._own_name(first, (folder, module))
        remarks: tuple[str, ...] = ()
        if _is_file(self._main, site.filename):
            remarks = (f"{one_line(PurePath(site.filename).name, 60)} was the program itself: importing it runs its "
                       "statements, so what trains belongs under `if __name__ == '__main__':`.",)
        imports, assignment = _import_lines(folder, module, first, own, site.filename)
        code = FunctionCode('.'.join([own, *rest]), imports, assignment,
                            '' if folder in _INSTALLED or 'site-packages' in folder else folder,
                            parameters=_parameters(site, definition, inputs), remarks=remarks)
        return _of_object(code, site, definition, inputs)

    def _own_name(self, name: str, source: tuple[str, str]) -> str:
        """The name, unless the file has another of that name or pytest would take it for a test."""
        own = f'recorded_{name}' if name.lower().startswith('test') else name
        while self._names.setdefault(own, source) != source:
            own += '_'
        return own

    def _with_recorded_source(self, site: SiteRecord) -> FunctionCode:
        source = recorded_source(site, self._trace.source(site.filename).lines if site.filename else {})
        name = self._own_name(source.name, (site.filename, str(site.line)))
        remark = f'The source of {one_line(site.function, 60)} is the one that was recorded: read it before you run it.'
        missing = () if not source.unknown else (
            f'The recording has no values of its variables {", ".join(source.unknown)}: give them theirs.',)
        return FunctionCode(name, source.imports, source.definition(name), remarks=(remark, *missing))


def _definition_of(site: SiteRecord) -> _Definition:
    """The definition in the recorded source; an empty one where it was not recorded."""
    try:
        statement = ast.parse(textwrap.dedent(site.source)).body[0]
    except (SyntaxError, ValueError, IndexError, RecursionError, MemoryError):      # a part of a line, or hostile
        return _Definition()
    if isinstance(statement, ast.FunctionDef | ast.AsyncFunctionDef):
        return _Definition(statement)
    if isinstance(statement, ast.Assign) and isinstance(statement.value, ast.Lambda) and not site.source[:1].isspace() and (
            isinstance(target := statement.targets[0], ast.Name)):
        return _Definition(assigned=target.id)
    return _Definition()


def _path_in_module(site: SiteRecord, definition: _Definition) -> str:
    """'Model.make'; '' where no module has it under a name."""
    name = definition.assigned if site.function == '<lambda>' else site.function
    return name if name and all(_is_name(part) for part in name.split('.')) else ''


def _obstacle(site: SiteRecord, name: str) -> str:
    if not site.filename.endswith('.py') or _CELL.search(site.filename):
        return 'it is of no file of Python' if site.filename else 'it is not written in Python, or its module is not known'
    if not name:
        return 'it is a lambda without a name' if site.function.endswith('<lambda>') else 'it is made inside of a function'
    return ''


def _refuse_misfit(site: SiteRecord, definition: _Definition, inputs: int) -> None:
    """Where the program called it with other arguments than there are inputs, a test would call another function."""
    if definition.node is None:
        return
    arguments = definition.node.args
    most = len(arguments.posonlyargs) + len(arguments.args)
    least = most - len(arguments.defaults)
    needs_keywords = any(default is None for default in arguments.kw_defaults)
    bound = _bound_arguments(site, definition, most, inputs)
    if needs_keywords or inputs + bound < least or (inputs + bound > most and arguments.vararg is None):
        raise CommandError(f'{one_line(site.function, 60)} takes other arguments than the {inputs} inputs of its call: the '
                           'program called it by a partial, a wrapper or with nested arguments, which the trace lacks')


def _bound_arguments(site: SiteRecord, definition: _Definition, most: int, inputs: int) -> int:
    """1 where the first argument is the object or class whose method it is."""
    if definition.node is None or (_is_callable_object(site, definition) or 'classmethod' in _decorators(definition)):
        return 1
    is_method = '.' in site.function and 'staticmethod' not in _decorators(definition)
    first = [each.arg for each in (*definition.node.args.posonlyargs, *definition.node.args.args)][:1]
    return int(is_method and first == ['self'] and (most > inputs or definition.node.args.vararg is not None))


def _parameters(site: SiteRecord, definition: _Definition, inputs: int) -> tuple[str, ...]:
    """Names of the parameters that get the inputs."""
    if definition.node is None:
        return ()
    names = [each.arg for each in (*definition.node.args.posonlyargs, *definition.node.args.args)]
    bound = _bound_arguments(site, definition, len(names), inputs)
    return tuple(names[bound:bound + inputs])


def _decorators(definition: _Definition) -> set[str]:
    assert definition.node is not None, 'the caller has looked'
    return {each.id for each in definition.node.decorator_list if isinstance(each, ast.Name)}


def _is_callable_object(site: SiteRecord, definition: _Definition) -> bool:
    """Whether the program called an object: it is recorded under the name of its class."""
    return definition.node is not None and definition.node.name == '__call__' and not site.function.endswith('__call__')


def _of_object(code: FunctionCode, site: SiteRecord, definition: _Definition, inputs: int) -> FunctionCode:
    """The code, with an object that the user makes where it is called on one."""
    if definition.node is None:
        return code
    arguments = definition.node.args
    most = len(arguments.posonlyargs) + len(arguments.args)
    is_object = _is_callable_object(site, definition)
    is_method = not is_object and 'classmethod' not in _decorators(definition) and bool(
        _bound_arguments(site, definition, most, inputs))
    if not (is_object or is_method):
        return code
    owner = code.expression if is_object else code.expression.rpartition('.')[0]
    fixture = owner.rpartition('.')[2].lower()
    fixture += '_' * (keyword.iskeyword(fixture) or fixture == owner)
    method = '' if is_object else f'.{code.expression.rpartition(".")[2]}'
    remark = f'The recording has no objects: make `{fixture}`, the {owner} of the program, where the file says so.'
    return replace(code, expression=fixture + method, fixture=fixture, object_class=owner, remarks=(*code.remarks, remark))


def _module_of(filename: str) -> tuple[str, str]:
    """The folder from which a file is imported, and its module: 'package.module' where its folder is a package."""
    path = PurePath(os.path.abspath(filename))
    folder, names = path.parent, [path.stem]
    if candidate(filename) is not None:         # else its folders are of another machine
        while (Path(folder) / '__init__.py').is_file() and folder.name:
            names.insert(0, folder.name)
            folder = folder.parent
    return str(folder), '.'.join(names[:-1] if names[-1] == '__init__' and len(names) > 1 else names)


def _import_lines(folder: str, module: str, name: str, own: str, filename: str) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """The imports, and the definition where the module has no name that a statement could have."""
    if all(_is_name(part) for part in module.split('.')):
        return (f'from {module} import {name}{"" if own == name else f" as {own}"}',), ()
    if '.' in PurePath(filename).stem:          # no name of a module: `run_path` takes any, and calls it no `__main__`
        return ('import runpy',), (f'{own} = runpy.run_path({os.path.abspath(filename)!r})[{name!r}]', '')
    return ('import importlib',), (f'{own} = importlib.import_module({module!r}).{name}', '')


def _is_name(text: str) -> bool:
    return text.isidentifier() and not keyword.iskeyword(text)


def _path_of_main(argv: Sequence[str]) -> str:
    """The path of the program as it was typed; '' of a module."""
    return argv[0] if argv and argv[0].endswith('.py') else ''


def _is_file(main: str, filename: str) -> bool:
    """Whether a path as typed, from a folder that is not known, may be this file."""
    parts = PurePath(os.path.normpath(main)).parts if main else ()
    parts = tuple(part for part in parts if part != '..')
    return bool(parts) and PurePath(filename).parts[-len(parts):] == parts

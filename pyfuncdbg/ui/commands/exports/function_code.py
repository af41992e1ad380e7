"""Code that gives a generated file a function of the program: an import, or the recorded source.

A trace is untrusted: what of it becomes code is a checked identifier or a literal; its source only on the user's word.
"""
from __future__ import annotations

import ast
import builtins
import contextlib
import os
import re
import sysconfig
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path, PurePath

import numpy as np

from pyfuncdbg.errors import CommandError
from pyfuncdbg.hooks.argument_form import ArgumentForm
from pyfuncdbg.observers.debug.gradients.call_again import argument_form
from pyfuncdbg.observers.record.records import CallRecord, SiteRecord
from pyfuncdbg.observers.record.sources.local_source import candidate
from pyfuncdbg.observers.record.sources.source_text import FileText
from pyfuncdbg.observers.record.trace import Trace
from pyfuncdbg.ui.commands.exports.held_function import HeldFunction
from pyfuncdbg.ui.commands.exports.random_state_code import random_states
from pyfuncdbg.ui.commands.exports.recorded_definition import (
    RecordedDefinition,
    bound_arguments,
    decorators,
    definition_of,
    is_callable_object,
    parameters,
    path_in_module,
    refuse_misfit,
)
from pyfuncdbg.ui.commands.exports.recorded_source import recorded_source
from pyfuncdbg.ui.commands.exports.recorded_value import (
    UnknownValueError,
    ValueWriter,
    is_generator,
    is_library_module,
    is_name,
)
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
        object_text: Expression for it, '' where the user has to make it.
        parameters: Names of the parameters for the inputs, as far as they are known.
        remarks: What the user should know before the function is imported.
        before: Statements before a call, which restore what the function reads of its module.
        name: Of the function, where the expression is more than that.
        form: How the inputs make up nested arguments; None if each is an argument.
    """

    expression: str
    imports: tuple[str, ...]
    definition: tuple[str, ...] = ()
    folder: str = ''
    fixture: str = ''
    object_class: str = ''
    object_text: str = ''
    parameters: tuple[str, ...] = ()
    remarks: tuple[str, ...] = ()
    before: tuple[str, ...] = ()
    name: str = ''
    form: ArgumentForm | None = None

    def call(self, inputs: Sequence[str]) -> str:
        """The expression that calls it.

        Args:
            inputs: Expressions for the inputs.
        """
        return f'{self.expression}({self.form.text(inputs) if self.form is not None else ", ".join(inputs)})'

    @property
    def title(self) -> str:
        """'Model.make'."""
        return self.name or self.expression

    @property
    def texts(self) -> tuple[str, ...]:
        """All code that may call functions of the generated file."""
        return self.expression, self.object_text, *self.definition, *self.before


class FunctionCodes:
    """The functions of one generated file: each is imported once, under a name of its own.

    Args:
        trace: Of the calls.
        reserved: Names that the file uses itself.
        add: Stores an array that a function holds, and gives the expression for it.
        with_source: Whether recorded source may become code of the file.
    """

    def __init__(self, trace: Trace, reserved: Sequence[str], add: Callable[[np.ndarray], str], *,
                 with_source: bool) -> None:
        self._trace = trace
        self._with_source = with_source
        self._names: dict[str, tuple[str, str]] = dict.fromkeys(reserved, ('', ''))
        self._main = _path_of_main(trace.info().argv)
        self._imports: list[str] = []
        self._writer = ValueWriter(add, self._import_class)
        self._site: SiteRecord | None = None

    def code_for(self, call: CallRecord) -> FunctionCode:
        """The code for the function of a call.

        Args:
            call: Of a Python function.

        Raises:
            CommandError: The function cannot be imported, and its source was not recorded or may not be used.
        """
        site = self._site = call.site
        self._imports = []
        function = HeldFunction.of(self._trace.call_state(call.number))
        definition = definition_of(site)
        name = path_in_module(site, definition)
        why = _obstacle(site, name)
        if why and not self._with_source:
            raise CommandError(f'{one_line(site.function, 60)} cannot be imported: {why}. --with-source puts its recorded '
                               'source into the file: read it before you run it')
        if why:
            return self._with_recorded_source(site, function)
        folder, module, is_main = self._place(site.filename, function.module)
        if is_library_module(module):
            raise CommandError(f'{one_line(site.function, 60)} is of the Python library: a generated file calls functions '
                               'of the program only')
        remarks = _main_remarks(site.filename, self._trace.source(site.filename)) if is_main else ()
        if remarks and self._with_source and '.' not in name:
            return self._with_recorded_source(site, function)       # importing the program would run it
        form = argument_form(call)
        inputs = (len(call.inputs) if form is None else len(form.positional)) + site.traits.takes_context
        keywords = [keyword for keyword, _ in form.keywords] if form is not None else []
        if function.partial is None:
            refuse_misfit(site, definition, inputs, keywords)
        elif form is not None:
            raise CommandError(f'{one_line(site.function, 60)} was called by a partial with nested arguments, or numbers')
        first, *rest = name.split('.')
        if site.traits.takes_context and rest:
            rest[-1] = 'apply'                  # the framework gives the function its context
        own = self._own_name(first, (folder, module))
        imports, assignment = _import_lines(folder, module, first, own, site.filename)
        code = FunctionCode('.'.join([own, *rest]), imports, assignment,
                            '' if folder in _INSTALLED or 'site-packages' in folder else folder,
                            parameters=parameters(site, definition, inputs)[site.traits.takes_context:], remarks=remarks,
                            form=form)
        code = self._of_partial(code, function) if function.partial is not None else _of_object(
            code, site, definition, inputs)
        return replace(self._with_object(code, function), before=tuple(self._restored(function, module)))

    def _restored(self, held: HeldFunction, module: str) -> Iterator[str]:
        """Statements that put random generators of the function's module into their states."""
        for name, encoded in held.globals:
            if is_generator(encoded) and is_name(name) and name not in vars(builtins):
                with contextlib.suppress(UnknownValueError):
                    yield f'sys.modules[{module!r}].{name} = {self._writer.text_of(encoded)}'

    def random_states(self, call: CallRecord) -> dict[str, np.ndarray]:
        """States of the random generators that the function of a call may draw from, by module.

        Args:
            call: Of a Python function.
        """
        return random_states(self._trace.call_state(call.number), call.site.source)

    def _place(self, filename: str, module: str) -> tuple[str, str, bool]:
        """The folder from which a file is imported, its module, and whether it was the program itself."""
        folder, own = _module_of(filename)
        if not module or module == '__main__':
            return folder, own, module == '__main__' or _is_file(self._main, filename)
        path = PurePath(os.path.abspath(filename))
        parts = module.split('.')
        names = [*path.parts[:-1], *([] if path.stem == '__init__' else [path.stem])]
        if names[-len(parts):] != parts:
            return folder, own, False           # of a wrapper that has taken another name
        return str(PurePath(*names[:len(names) - len(parts)])), module, False

    def _of_partial(self, code: FunctionCode, held: HeldFunction) -> FunctionCode:
        """The code of a function that the program called with arguments of its own before or behind the inputs."""
        assert held.partial is not None, 'the caller has looked'
        args, keywords = held.partial
        try:
            texts = [self._writer.text_of(one) for one in args]
            texts += [f'{name}={self._writer.text_of(value)}' for name, value in keywords]
        except UnknownValueError as error:
            raise CommandError(f'{code.expression} was called by a partial, and the trace has not all of its arguments: '
                               f'{one_line(str(error), 100)}') from None
        if not all(is_name(name) for name, _ in keywords):
            raise CommandError(f'{code.expression} was called by a partial with keywords that are no names')
        return replace(code, expression=f'functools.partial({", ".join([code.expression, *texts])})', name=code.expression,
                       imports=('import functools', *code.imports, *self._imports), parameters=())

    def _with_object(self, code: FunctionCode, function: HeldFunction) -> FunctionCode:
        """The code, with the object that it is called on where the trace has it."""
        if not code.fixture or function.owner is None:
            return code
        self._writer.missing.clear()
        try:
            text = self._writer.object_text(function.owner)
        except UnknownValueError:
            return code
        names = ', '.join(f'{code.fixture}.{name}' for name in self._writer.missing)
        missing = (f'The recording has no value of {names}.',) if names else ()
        return replace(code, object_text=text, imports=tuple(dict.fromkeys((*code.imports, *self._imports))),
                       remarks=(*code.remarks[:-1], *missing))

    def _import_class(self, module: str, name: str) -> str:
        """A class of the program: in the module of the function, or in one beside it."""
        assert self._site is not None, 'set for each call'
        first, *rest = name.split('.')
        if not all(map(is_name, [first, *rest])) or is_library_module(module):
            raise UnknownValueError(f'of a class {name!r}')
        folder, own_module = _module_of(self._site.filename)
        if module == '__main__':
            module = own_module
        if not all(map(is_name, module.split('.'))):
            raise UnknownValueError(f'of a module {module!r}')
        own = self._own_name(first, (folder, module))
        self._imports.append(f'from {module} import {first}{"" if own == first else f" as {own}"}')
        return '.'.join([own, *rest])

    def _own_name(self, name: str, source: tuple[str, str]) -> str:
        """The name, unless the file has another of that name or pytest would take it for a test."""
        own = f'recorded_{name}' if name.lower().startswith('test') else name
        while self._names.setdefault(own, source) != source:
            own += '_'
        return own

    def _with_recorded_source(self, site: SiteRecord, held: HeldFunction) -> FunctionCode:
        values = {}
        for name, encoded in held.variables:
            with contextlib.suppress(UnknownValueError):
                values[name] = self._writer.text_of(encoded)
        source = recorded_source(site, self._trace.source(site.filename), values)
        name = self._own_name(source.name, (site.filename, f'{site.line} {source.variables}'))
        remark = f'The source of {one_line(site.function, 60)} is the one that was recorded: read it before you run it.'
        missing = () if not source.unknown else (
            f'The recording has no values of its variables {", ".join(source.unknown)}: give them theirs.',)
        return FunctionCode(name, (*source.imports, *self._imports), source.definition(name), remarks=(remark, *missing))


def _main_remarks(filename: str, source: FileText) -> tuple[str, ...]:
    """What importing the program itself would run; nothing where its text is known to define names only."""
    name = one_line(PurePath(filename).name, 60)
    rule = "belongs under `if __name__ == '__main__':`."
    try:
        if source.missing or not source.lines:
            raise ValueError('not all of it is known')
        statements = ast.parse('\n'.join(source.lines.get(i, '') for i in range(1, max(source.lines) + 1))).body
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return (f'{name} was the program itself: importing it runs its statements, so what trains {rule}',)
    running = next((each for each in statements if not _defines_only(each)), None)
    return () if running is None else (
        f'{name} was the program itself: importing it runs line {running.lineno}, which {rule}',)


def _defines_only(statement: ast.stmt) -> bool:
    """Whether a statement of a module only gives names values, or is guarded."""
    if isinstance(statement, ast.If):
        return 'Name' in ast.dump(statement.test) and "'__name__'" in ast.dump(statement.test)
    if isinstance(statement, ast.Expr):
        return isinstance(statement.value, ast.Constant)
    return isinstance(statement, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef | ast.Import | ast.ImportFrom
                      | ast.Assign | ast.AnnAssign | ast.Pass)


def _obstacle(site: SiteRecord, name: str) -> str:
    if not site.filename.endswith('.py') or _CELL.search(site.filename):
        return 'it is of no file of Python' if site.filename else 'it is not written in Python, or its module is not known'
    if not name:
        return 'it is a lambda without a name' if site.function.endswith('<lambda>') else 'it is made inside of a function'
    return ''


def _of_object(code: FunctionCode, site: SiteRecord, definition: RecordedDefinition, inputs: int) -> FunctionCode:
    """The code, with an object that the user makes where it is called on one."""
    if definition.node is None:
        return code
    arguments = definition.node.args
    most = len(arguments.posonlyargs) + len(arguments.args)
    is_object = is_callable_object(site, definition)
    is_method = not is_object and 'classmethod' not in decorators(definition) and bool(
        bound_arguments(site, definition, most, inputs))
    if not (is_object or is_method):
        return code
    owner = code.expression if is_object else code.expression.rpartition('.')[0]
    fixture = owner.rpartition('.')[2].lower()
    fixture += '_' * (not is_name(fixture) or fixture == owner)
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
    if all(is_name(part) for part in module.split('.')):
        return (f'from {module} import {name}{"" if own == name else f" as {own}"}',), ()
    if '.' in PurePath(filename).stem:          # no name of a module: `run_path` takes any, and calls it no `__main__`
        return ('import runpy',), (f'{own} = runpy.run_path({os.path.abspath(filename)!r})[{name!r}]', '')
    return ('import importlib',), (f'{own} = importlib.import_module({module!r}).{name}', '')


def _path_of_main(argv: Sequence[str]) -> str:
    """The path of the program as it was typed; '' of a module."""
    return argv[0] if argv and argv[0].endswith('.py') else ''


def _is_file(main: str, filename: str) -> bool:
    """Whether a path as typed, from a folder that is not known, may be this file."""
    parts = PurePath(os.path.normpath(main)).parts if main else ()
    parts = tuple(part for part in parts if part != '..')
    return bool(parts) and PurePath(filename).parts[-len(parts):] == parts

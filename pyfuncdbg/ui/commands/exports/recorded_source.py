"""Recorded source of a function as code of a generated file, with the imports that it needs."""
from __future__ import annotations

import ast
import builtins
import contextlib
import keyword
import textwrap
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass

from pyfuncdbg.errors import CommandError
from pyfuncdbg.observers.record.records import SiteRecord
from pyfuncdbg.observers.record.sources.source_text import FileText
from pyfuncdbg.ui.views.escape import one_line

_UNREADABLE = SyntaxError, ValueError, RecursionError, MemoryError
"""What the parser of Python raises for a part of a statement, or for a hostile text."""


@dataclass(frozen=True, slots=True)
class RecordedSource:
    """A function's source.

    Attributes:
        name: Under which its text defines it; of a lambda one that is made up.
        text: A `def` without decorators, or a lambda.
        imports: Those of its module that it uses.
        statements: Functions, classes and plain assignments of its module that it uses, in their order.
        variables: Expressions for variables of its module or of an enclosing function, by name.
        unknown: Names that it uses and that nothing here defines: variables of its module or of an enclosing function.
    """

    name: str
    text: str
    imports: tuple[str, ...]
    statements: tuple[str, ...]
    variables: tuple[tuple[str, str], ...]
    unknown: tuple[str, ...]

    def definition(self, name: str) -> tuple[str, ...]:
        """The lines that define it, with blank ones around them.

        Args:
            name: Under which the file has it.
        """
        variables = [*(f'{one} = {text}' for one, text in self.variables),
                     *(f'{one} = ...  # the recording has no value of it' for one in self.unknown)]
        variables += [line for text in self.statements for line in ('', '', *text.splitlines(), '', '')]
        if self.text.startswith('lambda'):
            return (*variables, f'{name} = {self.text}', '')
        renamed = [f'{name} = {self.name}'] if name != self.name else []
        return (*variables, '', '', *self.text.splitlines(), '', '', *renamed)


def recorded_source(site: SiteRecord, module: FileText, values: Mapping[str, str]) -> RecordedSource:
    """The source of a site's function.

    Args:
        site: Of a Python call.
        module: The text of its file.
        values: Expressions for variables, by name.

    Raises:
        CommandError: It was not recorded, or its text is not that of one function.
    """
    text = textwrap.dedent(site.source)
    try:
        tree = ast.parse(text)
    except _UNREADABLE:
        tree = ast.Module([], [])
    wanted = (ast.Lambda,) if site.function.endswith('<lambda>') else (ast.FunctionDef, ast.AsyncFunctionDef)
    functions = [node for node in ast.walk(tree) if isinstance(node, wanted)]
    if not functions or (len(functions) > 1 and wanted == (ast.Lambda,)):
        why = 'was not recorded' if not text else 'is not that of one function alone'
        raise CommandError(f'the source of {one_line(site.function, 60)} {why}: give the function a name in a module, and '
                           'record again')
    function = functions[0]
    own = text.splitlines()
    if isinstance(function, ast.FunctionDef | ast.AsyncFunctionDef):
        name, code = function.name, '\n'.join(own[function.lineno - 1:function.end_lineno])
    else:
        name, code = 'recorded_lambda', ast.get_source_segment(text, function) or ''
        code = code if '\n' not in code else ast.unparse(function)
    free = _free_names(ast.parse(code), name)       # without its decorators
    imports = {bound: line for line in module.lines.values() for bound in _bound_by_import(line)}
    definitions = _Definitions(module, {name, *imports, *values})
    statements = definitions.needed(free)
    free = sorted({*free, *definitions.read} - definitions.bound - {name})
    return RecordedSource(name, code, tuple(dict.fromkeys(imports[one] for one in free if one in imports)), statements,
                          tuple((one, values[one]) for one in free if one not in imports and one in values),
                          tuple(one for one in free if one not in imports and one not in values))


class _Definitions:
    """Statements of a module that define what a function uses, if all of its text is known.

    Args:
        module: The text.
        known: Names that have a value from elsewhere.

    Attributes:
        bound, read: Names that the needed statements define, and that they read.
    """

    def __init__(self, module: FileText, known: Collection[str]) -> None:
        self._lines = module.lines
        self._known = known
        self._statements: dict[str, ast.stmt] = {}
        self.bound: set[str] = set()
        self.read: set[str] = set()
        if not module.missing and module.lines:
            with contextlib.suppress(*_UNREADABLE):
                for statement in ast.parse('\n'.join(module.lines.get(i, '') for i in range(1, max(module.lines) + 1))).body:
                    self._statements.update(dict.fromkeys(_names_defined(statement), statement))

    def needed(self, names: Sequence[str]) -> tuple[str, ...]:
        """The statements that define names, and those that these need, in their order.

        Args:
            names: Names that a function reads.
        """
        waiting = [name for name in names if name in self._statements and name not in self._known]
        statements: dict[int, ast.stmt] = {}
        while waiting:
            statement = self._statements[waiting.pop()]
            if statement.lineno in statements:
                continue
            statements[statement.lineno] = statement
            self.bound.update(_names_defined(statement))
            read = _free_names(statement, '')
            self.read.update(read)
            waiting += [name for name in read if name in self._statements and name not in self._known]
        return tuple(self._text(statements[line]) for line in sorted(statements))

    def _text(self, statement: ast.stmt) -> str:
        decorators = getattr(statement, 'decorator_list', [])
        first = min([statement.lineno, *(each.lineno for each in decorators)])
        return '\n'.join(self._lines[line] for line in range(first, (statement.end_lineno or first) + 1))


def _names_defined(statement: ast.stmt) -> list[str]:
    """Names that a statement of a module gives a function, a class or a value that calls nothing."""
    if isinstance(statement, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
        return [statement.name]
    if isinstance(statement, ast.Assign) and not any(isinstance(node, ast.Call) for node in ast.walk(statement.value)):
        return [target.id for target in statement.targets if isinstance(target, ast.Name)]
    return []


def _free_names(function: ast.AST, own: str) -> list[str]:
    """Names that it reads and neither binds nor finds among the builtins, in alphabetical order."""
    bound, names = {own}, set[str]()
    for node in ast.walk(function):
        if isinstance(node, ast.Name):
            (names if isinstance(node.ctx, ast.Load) else bound).add(node.id)
        elif isinstance(node, ast.arg):
            bound.add(node.arg)
        elif isinstance(node, ast.FunctionDef | ast.ClassDef):
            bound.add(node.name)
        elif isinstance(node, ast.Import | ast.ImportFrom):
            bound |= {(alias.asname or alias.name).partition('.')[0] for alias in node.names}
        elif isinstance(node, ast.ExceptHandler) and node.name:
            bound.add(node.name)
    return sorted(name for name in names - bound if name not in vars(builtins) and not keyword.iskeyword(name))


def _bound_by_import(line: str) -> Iterator[str]:
    """The names that a line of a module imports; none of a line that is none or goes on."""
    if not line.startswith(('import ', 'from ')):
        return
    try:
        statement, = ast.parse(line).body
    except _UNREADABLE:
        return
    if isinstance(statement, ast.Import | ast.ImportFrom):
        for alias in statement.names:
            yield (alias.asname or alias.name).partition('.')[0]

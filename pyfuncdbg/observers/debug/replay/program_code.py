"""The program's code on this machine: functions of its modules, and code objects of lambdas, closures and methods.

A function is the one of its module that has its qualified name; a lambda, closure or method is found in the file by its
qualified name and line. On the thread of the command.
"""
from __future__ import annotations

from collections.abc import Iterator
from types import CodeType, FunctionType, ModuleType
from typing import Any

from pyfuncdbg.errors import CommandError
from pyfuncdbg.hooks.patched_code import original_code
from pyfuncdbg.observers.debug.replay.program_modules import ProgramModules, require_program_file


class ProgramCode:
    """Looks functions and their code up.

    Args:
        modules: Of the program.
    """

    def __init__(self, modules: ProgramModules) -> None:
        self.modules = modules
        self._codes: dict[str, CodeType] = {}

    def function_of_module(self, space: ModuleType, qualified_name: str, code_name: str) -> FunctionType | None:
        """A function that a module has under its qualified name, below its decorators.

        Args:
            space: The module.
            qualified_name: Of the function.
            code_name: Qualified name in its code: a decorator gives its wrapper that of the function.

        Returns:
            The function; None if the module has none that was written so.
        """
        main = self.modules.main_of(space)
        first = qualified_name.partition('.')[0]
        if main is not None and first.isidentifier():
            main.define_name(first)
        value: Any = space
        for part in qualified_name.split('.'):
            value = vars(value).get(part) if isinstance(value, ModuleType | type) else None
            if isinstance(value, staticmethod | classmethod):
                value = value.__func__
        for _ in range(20):
            if type(value) is FunctionType and original_code(value.__code__).co_qualname == code_name:
                return value
            value = getattr(value, '__wrapped__', None)
        return None

    def decorated(self, module: str, filename: str, qualified_name: str, line: int) -> Any:
        """What a decorator has made of a function.

        Args:
            module, filename: Of the function.
            qualified_name: Of the function.
            line: Its first line when it was recorded: a script may define one of that name again.

        Returns:
            The value of that name.

        Raises:
            CommandError: There is none.
        """
        space = self.modules.namespace(module, filename)
        main = self.modules.main_of(space)
        if main is not None and '.' not in qualified_name:
            main.define_at(qualified_name, line)
        value: Any = space
        for part in qualified_name.split('.'):
            value = getattr(value, part, None)
        if value is None:
            raise CommandError(f'{module} has no {qualified_name}, which a decorator has made: only functions of the top '
                               'level of a module can be made again')
        return value

    def code_in_file(self, filename: str, code_name: str, line: int) -> CodeType:
        """The code of a lambda, an inner function or any other, by its place.

        Args:
            filename: As the trace names it.
            code_name: Qualified name in its code.
            line: Its first line when it was recorded.

        Returns:
            The code.

        Raises:
            CommandError: There is none, or it cannot be told which it is.
        """
        known = self.modules.live_code
        if known is not None and (known.co_filename, known.co_qualname, known.co_firstlineno) == (filename, code_name, line):
            return known
        path = self.modules.path_of(filename)
        codes = self._codes_named(filename, code_name)
        exact = [code for code in codes if code.co_firstlineno == line]
        if len(exact) == 1 or len(codes) == 1:
            return (exact or codes)[0]
        if not codes:
            raise CommandError(f'there is no function {code_name} in {path} any more: it was renamed or removed')
        lines = ', '.join(str(code.co_firstlineno) for code in codes)
        if exact:
            raise CommandError(f'{len(exact)} functions {code_name} begin at line {line} of {path}: give each a line of its '
                               'own, and record again')
        raise CommandError(f'{code_name} of line {line} was moved in {path}, which has it at lines {lines}: it cannot be '
                           'told which of them it is')

    def has_several(self, filename: str, code_name: str) -> bool:
        """Whether a file has more than one function of a name.

        Args:
            filename: As the trace names it.
            code_name: Qualified name in the code.
        """
        return len(self._codes_named(filename, code_name)) > 1

    def _codes_named(self, filename: str, code_name: str) -> list[CodeType]:
        path = self.modules.path_of(filename)
        require_program_file(str(path))
        if filename not in self._codes:
            self.modules.note(str(path))
            try:
                self._codes[filename] = compile(self.modules.text(filename, path), str(path), 'exec', dont_inherit=True)
            except SyntaxError as error:
                raise CommandError(f'{path}: line {error.lineno} is no Python: {error.msg}') from None
        return [code for code in _inner_codes(self._codes[filename]) if code.co_qualname == code_name]


def _inner_codes(code: CodeType) -> Iterator[CodeType]:
    for constant in code.co_consts:
        if isinstance(constant, CodeType):
            yield constant
            yield from _inner_codes(constant)

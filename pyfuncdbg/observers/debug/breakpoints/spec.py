"""Breakpoint specification (SPEC): its syntax, and matching against sites.

    norm   layer*/norm   MatMul   Model.step     node name, glob, op type, function name
    function:norm                                a function only, where a node or op type has its name too
    norm[3]   #17                                the fourth call of a node, call number 17 of this process
    model.py:41   In[3]:2                        a line, of a file or of a cell
    worker:3/norm   :3/model.py:41               any of these in one process only, by its rank

Read by commands; `means` is asked once for each site that is called.
"""
from __future__ import annotations

import fnmatch
import os.path
import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Literal

from pyfuncdbg.errors import CommandError
from pyfuncdbg.hooks import notebook_cell
from pyfuncdbg.hooks.call import CallSite
from pyfuncdbg.observers.debug.conditions.function_names import function_names
from pyfuncdbg.observers.debug.processes.process_label import LABEL, is_labelled

SpecKind = Literal['name', 'call', 'line']

_FUNCTION = 'function:'
_NUMBER = re.compile(r'#(\d{1,18})')
_ORDINAL = re.compile(r'(.+)\[(\d{1,18})\]', re.DOTALL)
_LINE = re.compile(r'(.+):(\d{1,9})', re.DOTALL)
_CELL = re.compile(r'In\[\d+\]')
_TYPE = re.compile(r'_?[A-Z][a-z0-9]*(?:[A-Z][A-Za-z0-9]*|\d*)')
_PROCESS = re.compile(f'({LABEL.pattern})/(.+)', re.DOTALL)
_SOURCES = ('.py', '.pyw', '.ipynb')


@dataclass(frozen=True, slots=True)
class Spec:
    """A place in a program.

    Attributes:
        text: As typed.
        kind: A site by name, one call by its number, or a line.
        name: Of the site, a glob perhaps; the file of a line; '' for a call number.
        number: Call number or line, else 0.
        ordinal: Only this call of the site, None for all.
        function: Whether the name is one of a function, and of nothing else.
        process: Only in the processes of this label, 'worker:3' or ':3'; '' for all.
    """

    text: str
    kind: SpecKind
    name: str = ''
    number: int = 0
    ordinal: int | None = None
    function: bool = False
    process: str = ''

    @property
    def is_here(self) -> bool:
        """Whether this process is meant; asked at each hit, for the program may set the rank of a process at any time."""
        return not self.process or is_labelled(self.process)

    @property
    def glob(self) -> bool:
        """Whether the name is a pattern."""
        return any(char in self.name for char in '*?[')

    @property
    def looks_like_op(self) -> bool:
        """Whether the name could be an op type, such as MatMul: eager ops are announced by no run."""
        return self.kind == 'name' and not self.function and _TYPE.fullmatch(self.name) is not None

    def fits(self, names: Iterable[str]) -> bool:
        """Whether one of a site's names is meant."""
        if not self.glob:
            return self.name in names
        return any(fnmatch.fnmatchcase(name, self.name) for name in names)

    def means(self, site: CallSite) -> bool:
        """Whether calls of the site are meant; of an ordinal or a number, whether they can be."""
        if self.kind == 'name':
            return self.fits(function_names(site.function) if self.function else names_of(site))
        return self.kind == 'call'

    def means_function(self, site: CallSite) -> bool:
        """Whether it is the function of the site that is named, not the node, an op type, or one call."""
        return self.means_function_of(site.name, names_of(site), function_names(site.function))

    def means_function_of(self, node: str, names: Sequence[str], function: Sequence[str]) -> bool:
        """The same of a site by its names."""
        if self.kind != 'name' or self.ordinal is not None or not self.fits(function):
            return False
        return self.function or not self.fits((node, *(name for name in names if name not in function)))

    def __str__(self) -> str:
        return self.text


def spec(text: str) -> Spec:
    """Read a SPEC.

    Raises:
        CommandError: It is empty, or has a number that cannot be.
    """
    text = text.strip()
    if not text:
        raise CommandError("no place given: expected a node, a glob, an op type, a function, FILE:LINE, '#17' or 'norm[3]'")
    process = _PROCESS.fullmatch(text)
    if process is not None:
        return replace(spec(process[2]), text=text, process=process[1])
    name = text.removeprefix(_FUNCTION)
    if name != text and not name.isdecimal():   # function:0 is a tensor of a node of that name
        return _of_function(text, name)
    if text.startswith('#'):
        number = _NUMBER.fullmatch(text)
        if number is None or not int(number[1]):
            raise CommandError(f"{text!r} is not a call number such as '#17'")
        return Spec(text, 'call', number=int(number[1]))
    line = _LINE.fullmatch(text)
    if line is not None and _CELL.fullmatch(line[1]) and line[1] not in notebook_cell.files and notebook_cell.label:
        raise CommandError(f'{text!r}: {line[1]} has not run in this session')
    if line is not None and (line[1] in notebook_cell.files or _is_file(line[1])):
        if not int(line[2]):
            raise CommandError(f'{text!r}: line numbers start at 1')
        return Spec(text, 'line', notebook_cell.files.get(line[1], line[1]), int(line[2]))
    if line is not None and not any(char.isspace() for char in text):
        return Spec(text, 'name', line[1])      # a tensor, 'norm:0': the node that makes it
    ordinal = _ORDINAL.fullmatch(text)
    if ordinal is not None:
        return Spec(text, 'name', ordinal[1], ordinal=int(ordinal[2]))
    return Spec(text, 'name', text)


def _of_function(text: str, name: str) -> Spec:
    if not name or ':' in name or name.startswith('#'):
        raise CommandError(f"{text!r} names no function; expected a form such as 'function:norm' or 'function:Model.step'")
    ordinal = _ORDINAL.fullmatch(name)
    if ordinal is not None:
        return Spec(text, 'name', ordinal[1], ordinal=int(ordinal[2]), function=True)
    return Spec(text, 'name', name, function=True)


def _is_file(name: str) -> bool:
    return name.endswith(_SOURCES) or (name.startswith('<') and name.endswith('>')) or os.path.isfile(name)


def names_of(site: CallSite) -> tuple[str, ...]:
    """The names under which a site is known: node, op type, function; an op 'aten.mul' as 'aten::mul' and 'mul', too."""
    library, dot, op = site.op_type.rpartition('.') if site.kind == 'op' else ('', '', '')
    return (site.name, site.op_type, *((f'{library}::{op}', op) if dot else ()), *function_names(site.function))

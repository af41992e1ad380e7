"""Functions that a program calls: of their errors the program sees its own frames only.

A wrapper has the parameters of its function, so that it costs one Python call and not the packing of arguments (45 ns where
`*args, **kwargs` take 90 to 190). It is put on where a name is published (`tf`), not where functions call each other.
"""
from __future__ import annotations

import contextlib
import functools
import sys
from collections.abc import Callable, Iterator
from types import CodeType, FrameType, FunctionType
from typing import Any, ParamSpec, TypeVar
from weakref import WeakSet

from pyfuncdbg.hooks.own_files import is_machinery
from pyfuncdbg.hooks.program_traceback import drop_own_frames

P = ParamSpec('P')
R = TypeVar('R')
T = TypeVar('T')

_FIRST_LINE, _SOURCE = sys._getframe().f_lineno, '''
def make(_function, _leave_out):
    def call({parameters}):
        try:
            return _function({arguments})
        except Exception as _error:             # of any kind: it goes on to the program
            try:
                _leave_out(_error)
            except RecursionError:              # too near to the limit: the next function of the stack does it
                pass
            raise
    return call
'''
_VARARGS, _VARKEYWORDS = 0x04, 0x08             # those of `inspect`, whose import takes 4 ms
_wrappers: WeakSet[Any] = WeakSet()
"""Functions that leave out frames already."""
_SPECIAL = frozenset((
    '__new__', '__del__', '__repr__', '__str__', '__format__', '__dir__', '__sizeof__', '__copy__', '__deepcopy__',
    '__reduce__', '__reduce_ex__', '__getstate__', '__setstate__', '__getnewargs__', '__getattribute__', '__init_subclass__',
    '__class_getitem__', '__subclasshook__', '__instancecheck__', '__subclasscheck__', '__set_name__', '__post_init__'))
"""Methods that Python calls on its own behalf, and that do not refuse what a program has passed."""


def hide_own_frames(function: Callable[P, R]) -> Callable[P, R]:
    """A wrapper of `function` with the same name, parameters and results, whose errors show only the program's frames."""
    if not isinstance(function, FunctionType) or function in _wrappers:
        return function
    code = function.__code__
    keywords = code.co_varnames[code.co_argcount:code.co_argcount + code.co_kwonlyargcount]
    flags = code.co_flags & (_VARARGS | _VARKEYWORDS)
    call: Any = _wrapper_factory(code.co_posonlyargcount, code.co_argcount, keywords, flags)(function, drop_own_frames)
    call.__code__ = _with_names_of(call.__code__, code)
    functools.update_wrapper(call, function)
    call.__defaults__, call.__kwdefaults__ = function.__defaults__, function.__kwdefaults__
    _wrappers.add(call)
    return call  # type: ignore[no-any-return]


def _with_names_of(wrapper: CodeType, code: CodeType) -> CodeType:
    count = code.co_argcount + code.co_kwonlyargcount + bool(code.co_flags & _VARARGS) + bool(
        code.co_flags & _VARKEYWORDS)
    return wrapper.replace(co_varnames=(*code.co_varnames[:count], *wrapper.co_varnames[count:]), co_name=code.co_name,
                           co_qualname=code.co_qualname)


@functools.cache
def _wrapper_factory(positional_only: int, positional: int, keywords: tuple[str, ...], flags: int) -> Callable[..., Any]:
    """A factory of wrappers for functions with so many parameters; each wrapper gets the names of its own function's."""
    names = [f'_{index}' for index in range(positional)]
    rest, options = flags & _VARARGS, flags & _VARKEYWORDS
    parameters = [*names[:positional_only], *['/'] * bool(positional_only), *names[positional_only:],
                  *(['*_rest'] if rest else ['*'] * bool(keywords)), *keywords, *['**_options'] * bool(options)]
    arguments = [*names, *['*_rest'] * bool(rest), *(f'{name}={name}' for name in keywords), *['**_options'] * bool(options)]
    source = _SOURCE.format(parameters=', '.join(parameters), arguments=', '.join(arguments))
    space: dict[str, Any] = {'__name__': __name__}
    exec(compile('\n' * (_FIRST_LINE - 1) + source, __file__, 'exec'), space)
    return space['make']  # type: ignore[no-any-return]


def mark_unwrapped(function: T) -> T:
    """Exempt a function from `hide_own_frames`: it drops frames itself, or refuses nothing and every op calls it.

    Returns:
        The function.
    """
    _wrappers.add(function)
    return function


def hides_own_frames(function: object) -> bool:
    """Whether a function drops frames of this package from its errors."""
    return isinstance(function, FunctionType) and function in _wrappers


def hide_own_frames_in_methods(kind: type[T]) -> type[T]:
    """The class `kind`, with its public methods, operators and properties wrapped in place by `hide_own_frames`."""
    for name, member in [*vars(kind).items()]:
        if name in _SPECIAL or (name.startswith('_') and not name.startswith('__')):
            continue
        wrapper: Any = member
        if isinstance(member, FunctionType):
            wrapper = hide_own_frames(member)
        elif isinstance(member, (classmethod, staticmethod)):
            inner = hide_own_frames(member.__func__)
            wrapper = member if inner is member.__func__ else type(member)(inner)
        elif isinstance(member, property):
            wrapper = _property(member, kind, name)
        if wrapper is not member:
            setattr(kind, name, wrapper)
    return kind


def _property(member: property, kind: type[Any], name: str) -> property:
    parts = member.fget, member.fset, member.fdel
    wrappers: list[Any] = [None if part is None else hide_own_frames(part) for part in parts]
    if tuple(wrappers) == parts:
        return member
    wrapper: Any = property(wrappers[0], wrappers[1], wrappers[2], member.__doc__)
    wrapper.__set_name__(kind, name)            # Python says it in its errors
    return wrapper  # type: ignore[no-any-return]


class _Context(contextlib._GeneratorContextManager[Any]):
    """Context manager of a function decorated with `context_hiding_own_frames`; it prints as contextlib's."""

    __module__, __qualname__ = 'contextlib', '_GeneratorContextManager'

    __enter__ = hide_own_frames(contextlib._GeneratorContextManager.__enter__)
    __exit__ = hide_own_frames(contextlib._GeneratorContextManager.__exit__)  # type: ignore[arg-type]


def context_hiding_own_frames(function: Callable[P, Iterator[R]]) -> Callable[P, contextlib.AbstractContextManager[R]]:
    """A context manager as `contextlib.contextmanager` makes of `function`, whose errors show only the program's frames."""
    @functools.wraps(function)
    def helper(*args: P.args, **kwargs: P.kwargs) -> contextlib.AbstractContextManager[R]:
        return _Context(function, args, kwargs)  # type: ignore[arg-type]
    return helper


def calling_frame() -> FrameType:
    """The frame that called the public function that asks; a wrapper does not count."""
    frame = sys._getframe(3)
    return frame.f_back if frame.f_code.co_filename == __file__ and frame.f_back is not None else frame


def stack_level() -> int:
    """The `stacklevel` of a warning or log message which is about the program's line."""
    level, frame = 1, sys._getframe(1)
    while frame.f_back is not None and is_machinery(frame.f_code.co_filename):
        level, frame = level + 1, frame.f_back
    return level

"""A function of the program that PyTorch calls, with the sites of its calls."""
from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping, Sequence
from functools import cached_property, partial
from types import FrameType, FunctionType
from typing import Any

from pyfuncdbg.hooks.argument_form import ARGUMENT_FORM
from pyfuncdbg.hooks.call import CallSite
from pyfuncdbg.hooks.call_frames import code_of
from pyfuncdbg.hooks.host import Host
from pyfuncdbg.hooks.own_files import is_machinery, outside_machinery
from pyfuncdbg.hooks.patched_code import code_number
from pyfuncdbg.hooks.source_map import place as place_of
from pyfuncdbg.hooks.traits import NO_TRAITS, RECOMPUTED, Traits
from pyfuncdbg.hosts.interception.program_line import program_frames
from pyfuncdbg.hosts.torch.context_argument import with_context, without_context
from pyfuncdbg.hosts.torch.python_calls.nested_arguments import NestedArguments

_MOST_PLACES = 4096
_places: dict[tuple[Any, ...], list[tuple[CallSite, NestedArguments | None]]] = {}
"""The first sites of each line and function, with their layouts: later ones have their ids. They hold no function."""
CallAgain = Callable[[NestedArguments | None, list[Any]], Sequence[Any]]
"""Calls a function on inputs of a layout, past all hooks."""
BACKWARD = '.backward'
"""End of the op type of a function that gives the gradients of another one."""


class CalledFunction:
    """A function that PyTorch calls.

    Attributes:
        name, op_type: Of its sites.
        takes_context: Whether its first argument, `ctx`, is no input of a call.
        function: Of its sites: the program's own; without its `ctx` where PyTorch passes one.
        replacement: The function that a debugger has put in its place; None if it has not.
    """

    def __init__(self, name: str, op_type: str, function: Any, host: Host, *, takes_context: bool = False,
                 call_again: CallAgain | None = None, traits: Traits = NO_TRAITS, replaceable: bool = False,
                 put: Callable[[Any], None] | None = None,
                 attrs: Mapping[str, Any] | None = None) -> None:
        self.name = name
        self.op_type = op_type
        self.function = without_context(function) if takes_context else function
        self.takes_context = takes_context
        self.replacement: Any = None
        self._code = function
        self._host = host
        self._call_again = call_again
        self._traits = traits._replace(takes_context=takes_context)
        self._replaceable = replaceable or put is not None
        self._put = put
        self._attrs = attrs or {}
        self._sites: dict[tuple[Any, ...], CallSite] = {}

    @property
    def was_called(self) -> bool:
        """Whether a call of it was seen."""
        return bool(self._sites)

    @property
    def place(self) -> tuple[str, int]:
        """File and first line of the function; '' and 0 of one that is not Python."""
        code = code_of(self.function)
        return (code.co_filename, code.co_firstlineno) if code is not None else ('', 0)

    @cached_property
    def parameters(self) -> tuple[str, ...]:
        """Names of its positional parameters, without `ctx`."""
        try:
            formal = inspect.signature(self.function).parameters.values()
        except (TypeError, ValueError):
            return ()
        return tuple([one.name for one in formal if one.kind in (one.POSITIONAL_ONLY, one.POSITIONAL_OR_KEYWORD)])

    def site(self, frame: FrameType | None, layout: NestedArguments | None, recomputes: bool = False,
             form: list[Any] | None = None) -> CallSite:
        """The site of a call that the program makes in this frame or one outside of it.

        Args:
            frame: Any frame on the stack of the call.
            layout: That of the arguments; None if they are not nested.
            recomputes: Whether PyTorch repeats the call for a backward pass.
            form: That of arguments which are not nested, if some are no tensors: one of the lists of `form_of_values`.
        """
        line = outside_machinery(frame)
        key = (*((line.f_code, line.f_lasti) if line is not None else (None, 0)), layout, recomputes, id(form))
        site = self._sites.get(key)
        if site is None:
            if len(self._sites) > _MOST_PLACES:
                self._sites.clear()
            site = self._sites[key] = self._new_site(line, layout, recomputes, form)
        return site

    def _new_site(self, frame: FrameType | None, layout: NestedArguments | None, recomputes: bool,
                  form: list[Any] | None) -> CallSite:
        where = place_of(frame)[:2] if frame is not None else ('', 0)
        names = layout.names if layout is not None else ()
        key = self.op_type, self.name, code_number(self._code), *where, recomputes, id(form)
        place = _place(key, layout) or self._new_place(key, layout)
        attrs: dict[str, Any] = {**self._attrs, RECOMPUTED: True} if recomputes else {**self._attrs}
        if layout is not None:
            attrs['_arguments'] = layout
        elif form is not None:
            attrs[ARGUMENT_FORM] = form
        if self._call_again is not None:
            attrs['_call'] = partial(self._call_again, layout)
        if self._replaceable:
            attrs['_replace'] = self._replace
        return CallSite(self.name, self.op_type, 'python', self._host, function=self.function,
                        stack=program_frames(frame), inputs=names, attrs=attrs, same_as=place, traits=self._traits)

    def _new_place(self, key: tuple[Any, ...], layout: NestedArguments | None) -> CallSite:
        if len(_places) > _MOST_PLACES:
            _places.clear()
        place = CallSite(self.name, self.op_type, 'python', self._host, inputs=layout.names if layout is not None else ())
        _places.setdefault(key, []).append((place, layout))
        return place

    def _replace(self, function: Any) -> None:
        """Put another function in its place, or its own one back."""
        plain = with_context(function)
        if self._put is not None:
            self._put(plain)
        else:
            self.replacement = plain if plain is not self._code else None


def _place(key: tuple[Any, ...], layout: NestedArguments | None) -> CallSite | None:
    """The first site of a line and function whose arguments begin like these: the last batch may be a smaller one."""
    for place, known in _places.get(key, ()):
        if known is layout or (known is not None and layout is not None
                               and known.structure().beginning(len(layout.names)) == layout.structure()):
            return place
    return None


def is_program_function(function: Any) -> bool:
    """Whether a function is the program's or a library's, and not PyTorch's or ours."""
    while not isinstance(function, FunctionType):
        inner = getattr(function, 'func', None) or getattr(function, '__func__', None)
        if inner is None:
            kind = type(function)
            call = kind.__dict__.get('__call__')
            if not isinstance(call, FunctionType):
                return False
            inner = call
        function = inner
    return not is_machinery(function.__code__.co_filename)


"""Stops at the start of a function, before its first line: eligible calls, and inputs that can still be replaced.

Asked on the thread of a call, and at its stop.
"""
from __future__ import annotations

from collections.abc import Sequence
from inspect import CO_ASYNC_GENERATOR, CO_COROUTINE, CO_GENERATOR

from pyfuncdbg.hooks.call import CallSite
from pyfuncdbg.hooks.call_frames import code_of, is_function_frame
from pyfuncdbg.hooks.generator_end import SOURCE
from pyfuncdbg.hooks.own_files import is_machinery
from pyfuncdbg.observers.debug.breakpoints.breakpoint import Hit
from pyfuncdbg.observers.debug.conditions.function_parameters import parameter_names
from pyfuncdbg.observers.debug.stops.stop import Stop

_LATER = CO_GENERATOR | CO_COROUTINE | CO_ASYNC_GENERATOR
"""Flags of functions that only make something when they are called."""


def stops_inside(site: CallSite, hits: Sequence[Hit]) -> bool:
    """Whether a call that these breakpoints stop is stopped inside of its function: each of them names that."""
    return all(hit.breakpoint.names_function(site) for hit in hits) and is_enterable(site)


def is_enterable(site: CallSite) -> bool:
    """Whether calls of a site begin with a Python function; not those that go on in one, as a generator's next element."""
    if site.kind != 'python' or site.attrs.get(SOURCE):
        return False
    code = code_of(site.function)
    return code is not None and not code.co_flags & _LATER and not is_machinery(code.co_filename)


def is_at_start(stop: Stop) -> bool:
    """Whether a stop is where the function of its call begins."""
    return stop.phase == 'call' and stop.call is not None and stop.frame is not None and is_function_frame(stop.frame)


def parameter_at(stop: Stop, index: int) -> str:
    """The variable of the function that has an input of the call at its start; '' if it has none of its own."""
    call, frame = stop.call, stop.frame
    if call is None or frame is None or call.site.attrs.get('_arguments') is not None:
        return ''
    name = next(iter((parameter_names(call.site.function) or ())[index:index + 1]), '')
    value = frame.f_locals.get(name)
    return name if value is call.inputs[index] else ''

"""The parameters of a wrapped function, and where their values are among the inputs of a call.

Asked when a condition meets a site for the first time; the getters run on the thread of each call.
"""
from __future__ import annotations

import inspect
import sys
from collections.abc import Callable, Collection, Iterator
from types import FunctionType, ModuleType
from typing import Any

import numpy as np

from pyfuncdbg.hooks.call import Call, CallSite
from pyfuncdbg.hooks.own_files import is_library, is_machinery

Get = Callable[[Call], Any]

_READ = (np.ndarray, np.generic, bytes, str)

READY = frozenset((np.ndarray, np.float16, np.float32, np.float64, np.int32, np.int64, np.bool_))
"""The usual types among those that need no reading: asking for one of them is quicker than `isinstance`."""


def signature_of(function: Any) -> inspect.Signature | None:
    """The function's signature, None where Python cannot tell: of ufuncs and other built-in functions.

    A generator's calls ask for its next element: what they are given is the number of the iteration, and no parameter.
    """
    if function is None:
        return None
    if inspect.isgeneratorfunction(function):
        return inspect.Signature()
    try:
        return inspect.signature(function)
    except (TypeError, ValueError):
        return None


def parameter_names(function: Any) -> tuple[str, ...] | None:
    """The names of its parameters, None if unknown."""
    signature = signature_of(function)
    return None if signature is None else tuple(signature.parameters)


def current_functions(names: Collection[str]) -> Iterator[FunctionType]:
    """Each function that a module of the program has under one of these names by now: a site that was met may be of one
    that has been defined anew."""
    for module in list(sys.modules.values()):
        if issubclass(type(module), ModuleType):        # `isinstance` would run the program's code for a proxy
            namespace = object.__getattribute__(module, '__dict__')     # do not load lazy modules
            for value in [namespace.get(name) for name in names]:
                file = value.__code__.co_filename if type(value) is FunctionType else ''
                if file and not is_library(file) and not is_machinery(file):
                    yield value


def array_reader(site: CallSite) -> Callable[[Any], Any]:
    """Gives the array behind a value of the site's host. A NumPy scalar stays one, as comparing it is ten times faster; a
    single string is what Python calls one."""
    to_numpy = site.host.to_numpy

    def read(value: Any) -> Any:
        if isinstance(value, _READ):
            return value
        array = to_numpy(value)
        return array[()] if array.dtype.hasobject and not array.ndim and isinstance(array[()], _READ) else array
    return read


def parameter_getter(site: CallSite, name: str) -> Get | None:
    """A getter of a parameter's value from a call of the site, as an array; None if there is no such parameter.

    Of nested arguments it is the structure, with arrays in it; of `*args` a tuple.
    """
    signature = signature_of(site.function)
    if signature is None or name not in signature.parameters:
        return None
    array = array_reader(site)
    if site.attrs.get('_arguments') is not None:
        return lambda call: _nested_argument(call, name, signature, array)
    formal = signature.parameters[name]
    index = list(signature.parameters).index(name)
    if formal.kind is formal.VAR_POSITIONAL:
        return lambda call: tuple([array(value) for value in call.inputs[index:]])
    default = formal.default if formal.default is not formal.empty else {} if formal.kind is formal.VAR_KEYWORD else None
    if formal.kind not in (formal.POSITIONAL_ONLY, formal.POSITIONAL_OR_KEYWORD):
        return lambda call: default
    return lambda call: array(call.inputs[index]) if index < len(call.inputs) else default


def input_index(site: CallSite, name: str) -> int | None:
    """The index of a parameter's input, None if it is not one input alone."""
    signature = signature_of(site.function)
    if signature is None or name not in signature.parameters or site.attrs.get('_arguments') is not None:
        return None
    wanted = signature.parameters[name]
    single = wanted.kind in (wanted.POSITIONAL_ONLY, wanted.POSITIONAL_OR_KEYWORD)
    return list(signature.parameters).index(name) if single else None


def _nested_argument(call: Call, name: str, signature: inspect.Signature, array: Callable[[Any], Any]) -> Any:
    """From inputs that make up nested arguments: the host says how (`_arguments`)."""
    positional, keywords = call.site.attrs['_arguments'].arguments([array(value) for value in call.inputs])
    bound = signature.bind_partial(*positional, **keywords)
    bound.apply_defaults()
    return bound.arguments.get(name)

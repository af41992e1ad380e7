"""`tf.autograph`: control of conversion, and inspection of converted code."""
from __future__ import annotations

import ast
import enum
import functools
import inspect
from collections.abc import Callable
from types import FunctionType, MethodType
from typing import Any

from pyfuncdbg.hooks.public_function import hide_own_frames
from pyfuncdbg.hosts.numpy.runtime.autograph.conversion import convert_function, tree
from pyfuncdbg.hosts.numpy.runtime.autograph.converted_call import conversion, operators
from pyfuncdbg.hosts.numpy.runtime.autograph.source import NoSourceError

_NOT_GIVEN = object()


class Feature(enum.Enum):
    """TensorFlow's options of conversion; accepted, for functions are converted in one way here."""

    ALL = 'ALL'
    AUTO_CONTROL_DEPS = 'AUTO_CONTROL_DEPS'
    ASSERT_STATEMENTS = 'ASSERT_STATEMENTS'
    BUILTIN_FUNCTIONS = 'BUILTIN_FUNCTIONS'
    EQUALITY_OPERATORS = 'EQUALITY_OPERATORS'
    LISTS = 'LISTS'
    NAME_SCOPES = 'NAME_SCOPES'

    @classmethod
    def all(cls) -> tuple[Feature, ...]:
        """All options."""
        return tuple(cls)

    @classmethod
    def all_but(cls, exclude: Any) -> tuple[Feature, ...]:
        """All options but some."""
        excluded = exclude if isinstance(exclude, (list, tuple, set)) else (exclude,)
        return tuple(set(cls) - set(excluded) - {cls.ALL})


class ConversionError(Exception):
    """A function cannot be converted."""


def do_not_convert(func: Callable[..., Any] | None = None) -> Any:
    """Decorator, with and without parentheses: trace a function, and what it calls, without conversion."""
    if func is None:
        return do_not_convert

    def unconverted_call(*args: Any, **kwargs: Any) -> Any:
        with conversion(False):
            return func(*args, **kwargs)
    return functools.update_wrapper(unconverted_call, func) if inspect.isroutine(func) else unconverted_call


def set_loop_options(parallel_iterations: Any = _NOT_GIVEN, swap_memory: Any = _NOT_GIVEN,
                     maximum_iterations: Any = _NOT_GIVEN, shape_invariants: Any = _NOT_GIVEN) -> None:
    """Arguments for the `tf.while_loop` of a loop over tensors, at the beginning of its body.

    Args:
        parallel_iterations: Accepted; iterations run one after another.
        swap_memory: Accepted.
        maximum_iterations: The loop ends after so many.
        shape_invariants: Pairs of a loop variable and the shape that it has in all iterations.
    """


def to_graph(entity: Any, recursive: bool = True, experimental_optional_features: Any = None) -> Any:
    """A function with its control flow converted, to be called in a graph or eagerly.

    Raises:
        ConversionError: Its text is not known, or it is no function.
    """
    function = _function(entity)
    try:
        converted = convert_function(function, operators)
    except NoSourceError as error:
        raise ConversionError(f'converting {entity}: {type(error).__name__}: {error}') from error

    @hide_own_frames
    @functools.wraps(function)
    def call(*args: Any, **kwargs: Any) -> Any:
        with conversion(recursive):
            return converted(*args, **kwargs)
    return call


def to_code(entity: Any, recursive: bool = True, experimental_optional_features: Any = None) -> str:
    """The converted function as text.

    Raises:
        ConversionError: Its text is not known, or it is no function.
    """
    function = _function(entity)
    try:
        converted = tree(function.__code__, function.__globals__)
    except NoSourceError as error:
        raise ConversionError(f'converting {entity}: {type(error).__name__}: {error}') from error
    if converted is None:
        return inspect.cleandoc(inspect.getsource(function))
    node = converted[0]
    node.decorator_list, node.name = [], f'tf__{node.name}'
    return ast.unparse(node) + '\n'


def _function(entity: Any) -> FunctionType:
    inner = entity.__func__ if isinstance(entity, MethodType) else entity
    if not isinstance(inner, FunctionType):
        raise ConversionError(f'converting {entity}: ValueError: Cannot apply autograph to a function that doesn\'t expose '
                              'a __code__ object. If this is a @tf.function, try passing f.python_function instead.')
    return inner


def set_verbosity(level: int, alsologtostdout: bool = False) -> None:
    """Accepted: conversion logs nothing."""


def trace(*args: Any) -> None:
    """Print arguments while a function is traced."""
    print(*args)

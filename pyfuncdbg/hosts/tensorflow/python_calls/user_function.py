"""The user's own function behind an entry of TensorFlow's registry.

TensorFlow wraps a function before it registers it: against AutoGraph, for ragged and sparse arguments, in an `EagerFunc`,
and a generator in a function that gets its next element.
"""
from __future__ import annotations

import os.path
from types import CodeType
from typing import Any

from pyfuncdbg.hooks.call_frames import mark_function_caller

_WRAPPERS = {('wrapper', 'api.py'): 'func', ('wrapped_func', 'script_ops.py'): 'func'}
"""Variable with the wrapped function, by name and file of TensorFlow's wrappers."""
_OWN = {('get_next_id', 'dataset_ops.py'), ('finalize_py_func', 'from_generator_op.py'),
        ('eagerly_executed_grad', 'script_ops.py')}
"""TensorFlow's own functions, whose calls are not the program's."""
_TENSORFLOW = f'{os.sep}tensorflow{os.sep}python{os.sep}'
_NONE: Any = object()
_cells: dict[CodeType, int] = {}
"""Index of the closure cell with the wrapped function, by code of the wrapper."""


def user_function(registered: Any) -> Any:
    """The function that the program passed; None for one of TensorFlow's own."""
    function = getattr(registered, '_func', registered)
    while True:
        code = getattr(function, '__code__', None)
        if not isinstance(code, CodeType):
            return function
        cell = _cells.get(code)
        if cell is not None:
            function = function.__closure__[cell].cell_contents
            continue
        if _TENSORFLOW not in code.co_filename:
            return function
        place = code.co_name, os.path.basename(code.co_filename)
        if place in _OWN:
            return None
        inner = _NONE
        if place in _WRAPPERS:
            inner = _closure_variable(function, _WRAPPERS[place])
            if inner is not _NONE:
                _cells[code] = code.co_freevars.index(_WRAPPERS[place])
        elif place == ('py_function_wrapper', 'structured_function.py'):        # tf.data's debug mode
            inner = getattr(_closure_variable(function, 'self'), '_func', _NONE)
        elif place == ('generator_py_func', 'from_generator_op.py'):
            inner = getattr(_closure_variable(function, 'generator_state'), '_generator', _NONE)
        if inner is not _NONE:
            mark_function_caller(function)
        if inner is _NONE:
            return function                     # a function of TensorFlow that the program passed
        function = inner


def _closure_variable(function: Any, name: str) -> Any:
    """A variable that a function closes over."""
    closure = getattr(function, '__closure__', None) or ()
    for variable, cell in zip(function.__code__.co_freevars, closure, strict=False):
        if variable == name:
            return cell.cell_contents
    return _NONE


def takes_element(registered: Any) -> bool:
    """Whether each call takes the next element of a generator."""
    function = getattr(registered, '_func', registered)
    while isinstance(code := getattr(function, '__code__', None), CodeType):
        place = code.co_name, os.path.basename(code.co_filename)
        if place == ('generator_py_func', 'from_generator_op.py'):
            return True
        if place not in _WRAPPERS or _TENSORFLOW not in code.co_filename:
            return False
        function = _closure_variable(function, _WRAPPERS[place])
    return False


def output_specs(registered: Any) -> list[Any]:
    """The TensorSpecs in a function's `Tout`, by output, which TensorFlow does not check; empty if it has none."""
    function = getattr(registered, '_func', registered)
    while isinstance(code := getattr(function, '__code__', None), CodeType) and _TENSORFLOW in code.co_filename:
        place = code.co_name, os.path.basename(code.co_filename)
        if place not in _WRAPPERS:
            break
        specs = _closure_variable(function, 'out_structure')
        if specs is not _NONE:                  # outputs of a composite cannot be told apart
            plain = all(type(spec).__name__ in ('DType', 'TensorSpec') for spec in specs)
            return list(specs) if plain else []
        function = _closure_variable(function, _WRAPPERS[place])
    return []


def is_gradient(registered: Any) -> bool:
    """Whether it is the backward step of another function."""
    return bool(getattr(registered, '_is_grad_func', False))


def differentiated_token(registered: Any) -> str:
    """The token of the function that a backward step differentiates; '' if unknown."""
    step = _closure_variable(registered._func, 'func')
    token = _closure_variable(step, 'token') if step is not _NONE and hasattr(step, '__code__') else b''
    return token.decode() if isinstance(token, bytes) else token if isinstance(token, str) else ''

"""Serialized function of a script op in its node, for GraphDefs that run in another process.

Only nodes made with `serialize=True` have one, and only an import with `trust=True` loads it: loading runs code.
"""
from __future__ import annotations

import hashlib
import io
import pickle
from collections.abc import Callable, Mapping, Sequence
from functools import lru_cache
from types import CodeType
from typing import Any

from pyfuncdbg.hosts.numpy.ops.script.function import PythonFunction

ATTR = '_serialized_function'
"""The attr of the node."""
_FORM = 2
_NO_FILE = '<dynamic-code>'
"""cloudpickle's name for it."""


def stored(function: PythonFunction) -> bytes:
    """A function, pickled.

    Raises:
        ImportError: cloudpickle is not installed.
        ValueError: It cannot be pickled.
    """
    try:
        import cloudpickle
    except ImportError:
        raise ImportError("serialize=True needs cloudpickle: pip install 'pyfuncdbg[serialize]'") from None
    if function.variables:
        names = ', '.join(variable.name for variable in function.variables)
        raise ValueError(f'serialize=True: the function {function.func!r} reads variables of this process: {names}. Pass '
                         'them in `inp`.')
    try:
        return _dumps(cloudpickle, (_FORM, function.func, function.op_type, function.outputs, function.layout))
    except Exception as error:                  # pickling may raise anything: objects of the function have their own methods
        raise ValueError(f'serialize=True: the function {function.func!r} cannot be stored: {type(error).__name__}: '
                         f'{error}') from error


def _dumps(cloudpickle: Any, value: Any) -> bytes:
    """As `cloudpickle.dumps`, which drops the file of code: no line of the function could be shown or stopped at."""
    class Pickler(cloudpickle.Pickler):  # type: ignore[misc]
        def reducer_override(self, one: Any) -> Any:
            if type(one) is not CodeType:
                return super().reducer_override(one)
            make, fields = self.dispatch_table[CodeType](one)
            return code_of_file, (make, fields, one.co_filename, fingerprint(one.co_filename))

    with io.BytesIO() as file:
        Pickler(file).dump(value)
        return file.getvalue()


def code_of_file(make: Callable[..., CodeType], fields: tuple[Any, ...], filename: str, text: bytes) -> CodeType:
    """Make the code object of a stored function; cloudpickle calls it when the function is loaded.

    Args:
        make: Makes the code object, without a file.
        fields: Its arguments.
        filename: The file that the function was written in.
        text: `fingerprint` of that file in the process that stored it.

    Returns:
        The code object, of its file only where that is here with the same text: no other line is shown for it.
    """
    is_here = bool(text) and text == fingerprint(filename)
    return make(*fields).replace(co_filename=filename if is_here else _NO_FILE)


@lru_cache(maxsize=64)
def fingerprint(filename: str) -> bytes:
    """Hash of a file's text.

    Args:
        filename: As in a code object.

    Returns:
        16 bytes; empty where there is no such file. Read once: functions are of the text that was there first.
    """
    try:
        with open(filename, 'rb') as file:
            return hashlib.blake2b(file.read(), digest_size=16).digest()
    except (OSError, ValueError):               # a cell of a notebook, or no name that a file can have
        return b''


def loaded(body: bytes, op_type: str) -> PythonFunction:
    """The function from the bytes of `stored`. It runs code: only for bytes from a trusted source.

    Raises:
        ValueError: The bytes hold no function.
    """
    try:
        form, func, stored_type, outputs, layout = pickle.loads(body)
    except Exception as error:                  # damaged bytes, or modules that are not here, raise anything
        raise ValueError(f'the stored function cannot be loaded: {type(error).__name__}: {error}') from error
    if form != _FORM or stored_type != op_type or not callable(func):
        raise ValueError('the stored function is of another version of pyfuncdbg, or of another op')
    return PythonFunction(func, op_type, outputs, None, layout, True)


def restored(op_type: str, inputs: Sequence[Any], attrs: Mapping[str, Any], functions: Any) -> Mapping[str, Any]:
    """The private attrs of a script op that comes from a GraphDef."""
    body = attrs.get(ATTR)
    if body is None or not functions.trust:
        return {}
    function = loaded(body, op_type)
    if len(function.outputs.dtypes) != len(attrs['Tout']):
        raise ValueError('the stored function returns another number of values than the node')
    return {'_py_function': function, '_py_variables': {}}

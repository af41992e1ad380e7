"""Values of calls in an .npz file, and the expressions for them in generated code.

No pickles: types that NumPy lacks are stored as their bits, strings with what `.npy` would drop of their ends.
"""
from __future__ import annotations

import hashlib
import zipfile
from dataclasses import dataclass
from typing import IO

import numpy as np

from pyfuncdbg.errors import CommandError, DroppedError
from pyfuncdbg.observers.record.records import CallRecord, TensorRecord

_BITS = {1: 'uint8', 2: 'uint16', 4: 'uint32', 8: 'uint64'}
STRINGS = '''def strings(stored):
    """The strings of an array, as bytes. A full stop was stored behind each: `.npy` drops zero bytes at an end."""
    return np.array([text[:-1] for text in stored.flat] + [None], object)[:-1].reshape(stored.shape)
'''
"""The function that expressions for strings call."""


@dataclass(frozen=True, slots=True)
class ValueForm:
    """Expression for an array in terms of the stored one, `{}`, and whether it needs a further import or function.

    Attributes:
        text: 'VALUES[{}]', for example.
        strings: It calls `strings`.
        extended: It names `ml_dtypes`.
    """

    text: str
    strings: bool = False
    extended: bool = False

    def around(self, before: str, after: str = ')') -> ValueForm:
        """The expression as an argument of another one."""
        return ValueForm(f'{before}{self.text}{after}', self.strings, self.extended)


class ValueArchive:
    """An .npz file that is being written, as a context.

    Args:
        file: To write to.
    """

    def __init__(self, file: IO[bytes]) -> None:
        self._archive = zipfile.ZipFile(file, 'w', zipfile.ZIP_DEFLATED)
        self._keys: set[str] = set()

    def __enter__(self) -> ValueArchive:
        return self

    def __exit__(self, *error: object) -> None:
        self._archive.close()

    def add(self, key: str, array: np.ndarray) -> ValueForm:
        """Store an array.

        Args:
            key: Under which `numpy.load` gives it.
            array: Of a trace; strings as bytes.

        Returns:
            The expression for it.
        """
        stored, form = stored_array(array)
        if key in self._keys:
            return form
        self._keys.add(key)
        with self._archive.open(f'{key}.npy', 'w', force_zip64=True) as entry:
            np.lib.format.write_array(entry, np.asarray(stored), allow_pickle=False)
        return form

    def add_unnamed(self, array: np.ndarray) -> str:
        """Store an array under a key made of its content.

        Args:
            array: Of a trace.

        Returns:
            The expression for it.
        """
        facts = f'{array.dtype.str} {array.shape} '.encode() + array.tobytes()
        key = f'held.{hashlib.sha256(facts).hexdigest()[:10]}'
        return self.add(key, array).text.format(repr(key))


def stored_array(array: np.ndarray) -> tuple[np.ndarray, ValueForm]:
    """An array in a type that `.npy` has, and the expression that makes it again."""
    if array.dtype.kind == 'O':
        ends = np.array([bytes(text) + b'.' for text in array.flat] or [b'.'])[:array.size].reshape(array.shape)
        return ends, ValueForm('strings(VALUES[{}])', strings=True)
    if array.dtype.isbuiltin != 2:              # 2: a type that an extension added
        return array, ValueForm('VALUES[{}]')
    bits = np.ascontiguousarray(array).view(_BITS[array.dtype.itemsize]).reshape(array.shape)
    return bits, ValueForm(f'VALUES[{{}}].view(ml_dtypes.{array.dtype.name})', extended=True)


def restored_array(stored: np.ndarray, dtype: np.dtype) -> np.ndarray:
    """The inverse of `stored_array`.

    Args:
        stored: As stored.
        dtype: Of the array; of strings the object type.
    """
    if dtype.kind == 'O':
        return np.array([*(text[:-1] for text in stored.flat), None], object)[:-1].reshape(stored.shape)
    return stored if dtype.isbuiltin != 2 else stored.view(dtype)


def value_of(call: CallRecord, tensor: TensorRecord, what: str) -> np.ndarray:
    """The recorded value.

    Args:
        call: Of the tensor.
        tensor: An input or output of it.
        what: 'input 0', for the message.

    Raises:
        CommandError: It was not kept, and what to do.
    """
    try:
        return tensor.to_numpy()
    except DroppedError as error:
        raise CommandError(f'{what} of call #{call.number} {call.label}: {error}. Record again with a larger --budget, or '
                           "in Python with record(..., level='full', full_limit=...)") from None

"""Arrays to files: .npy without pickles, or text that a person and `numpy.loadtxt` can read."""
from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import numpy as np

from pyfuncdbg.errors import CommandError
from pyfuncdbg.observers.record.dtypes import as_numbers


def write_array(values: np.ndarray, name: str) -> str:
    """Write an array, and give the name of the file.

    A name that ends in .txt gets text and must be new; any other is completed to .npy, the only kind of file that is ever
    replaced.

    Raises:
        CommandError: It cannot be written.
    """
    path = Path(name).expanduser()
    try:
        if path.suffix == '.txt':
            with path.open('x', encoding='utf-8', errors='backslashreplace') as text:
                text.writelines(line + '\n' for line in _lines(values))
        else:
            path = path if path.suffix == '.npy' else path.with_name(path.name + '.npy')
            plain = plain_array(values)
            with path.open('wb') as file:
                np.save(file, plain, allow_pickle=False)
    except FileExistsError:
        raise CommandError(f'{str(path)!r} exists already, and only .npy files are replaced: choose another name') from None
    except (OSError, ValueError) as error:
        reason = error.strerror if isinstance(error, OSError) and error.strerror else error
        raise CommandError(f'cannot write {str(path)!r}: {reason}') from None
    return str(path)


def plain_array(values: np.ndarray) -> np.ndarray:
    """Values in a type that np.load reads anywhere: text as bytes of one length, bfloat16 and its like as float32."""
    if values.dtype.kind == 'O':
        if any(not isinstance(v, bytes) or v.endswith(b'\0') for v in values.flat):
            raise CommandError('these values cannot be written as .npy: some end in a zero byte or are not text')
        return values.astype(np.bytes_)
    numbers = as_numbers(values)
    return values if numbers is None else numbers


def _lines(values: np.ndarray) -> Iterator[str]:
    """The shape, then a line for each row along the last axis; text has a line for each element."""
    yield f'# shape {list(values.shape)}'
    numbers = as_numbers(values)
    plain = values if numbers is None else numbers
    if plain.dtype.kind not in 'biufc':
        for item in plain.flat:
            text = item.decode('utf-8', 'backslashreplace') if isinstance(item, bytes) else str(item)
            yield text.replace('\\', '\\\\').replace('\n', '\\n').replace('\r', '\\r')
        return
    rows = plain.astype(np.int64) if plain.dtype.kind == 'b' else plain
    for row in rows.reshape(-1, rows.shape[-1] if rows.ndim and rows.shape[-1] else 1):
        yield ' '.join(str(number) for number in row.tolist())

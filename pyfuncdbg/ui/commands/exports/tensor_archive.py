"""Values of tensors as one .npz file, without pickles: `numpy.load` reads it anywhere."""
from __future__ import annotations

import zipfile
from typing import IO

import numpy as np

from pyfuncdbg.errors import CommandError, DroppedError
from pyfuncdbg.ui.commands.array_files import plain_array
from pyfuncdbg.ui.commands.exports.exported_calls import ExportedCalls


def write_tensor_archive(calls: ExportedCalls, file: IO[bytes]) -> tuple[int, int]:
    """Write the arrays as `17.in0`, `17.out0`, ...; of one call as `in0`, `out0`.

    Args:
        calls: The calls.
        file: To write to.

    Returns:
        How many arrays were written, and how many tensors have no values in the trace or none that .npy can hold.
    """
    count = missing = 0
    is_one = calls.chosen is not None and len(calls.chosen) == 1
    with zipfile.ZipFile(file, 'w', zipfile.ZIP_DEFLATED) as archive:
        for call in calls:
            prefix = '' if is_one else f'{call.number}.'
            for side, tensors in (('in', call.inputs), ('out', call.outputs)):
                for slot, tensor in enumerate(tensors):
                    if tensor.absent:
                        continue
                    try:
                        array = plain_array(tensor.to_numpy())
                    except (DroppedError, CommandError):
                        missing += 1
                        continue
                    with archive.open(f'{prefix}{side}{slot}.npy', 'w', force_zip64=True) as entry:
                        np.lib.format.write_array(entry, np.asarray(array), allow_pickle=False)
                    count += 1
    return count, missing

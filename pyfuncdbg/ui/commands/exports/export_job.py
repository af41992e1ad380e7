"""One export: its calls, files and options, and its result."""
from __future__ import annotations

from dataclasses import dataclass

from pyfuncdbg.ui.commands.exports.exported_calls import ExportedCalls
from pyfuncdbg.ui.commands.exports.new_files import NewFiles


@dataclass(frozen=True, slots=True)
class ExportJob:
    """The input of a format: calls, files and options.

    Attributes:
        calls: The calls.
        files: Creates the files.
        with_source: Text of the trace may become code of the file.
        shrink: Inputs are to be reduced, by calls of the program's function.
    """

    calls: ExportedCalls
    files: NewFiles
    with_source: bool = False
    shrink: bool = False


@dataclass(frozen=True, slots=True)
class Written:
    """The result of a format.

    Attributes:
        count: Of calls; of an archive that of arrays.
        missing: Tensors without values that the format can hold.
        skipped: Calls that were chosen and that the format cannot hold.
        remarks: What the user should know before the file is used, a line each.
    """

    count: int
    missing: int = 0
    skipped: int = 0
    remarks: tuple[str, ...] = ()

"""Lines about a file that `export` has written."""
from __future__ import annotations

from typing import Protocol

from rich.text import Text

from pyfuncdbg.ui.views.escape import one_line
from pyfuncdbg.ui.views.units import count, size

_NEXT = {'chrome': ', open it at ui.perfetto.dev', 'html': ', open it in a browser', 'notebook': ', open it in Jupyter',
         'pytest': ', run it with pytest'}
"""What to do with a file of a format."""


class FileFacts(Protocol):
    """Facts of a file, as `export` gives them."""

    @property
    def path(self) -> str:
        """Of the file."""

    @property
    def format(self) -> str:
        """Of the file."""

    @property
    def nbytes(self) -> int:
        """Its size."""

    @property
    def calls(self) -> int:
        """The number of calls in it; of an archive that of arrays."""

    @property
    def missing(self) -> int:
        """Tensors without values."""

    @property
    def skipped(self) -> int:
        """Calls that the format cannot hold."""

    @property
    def beside(self) -> tuple[str, ...]:
        """Paths of the files that belong to it."""

    @property
    def remarks(self) -> tuple[str, ...]:
        """What the user should know before the file is used."""


def exported_file_view(file: FileFacts) -> Text:
    """The line, and what the user should know in lines of their own.

    Args:
        file: The file.
    """
    what = count(file.calls, 'array' if file.format == 'npz' else 'call')
    beside = ''.join(f' and {one_line(path, 200)}' for path in file.beside)
    text = f'{one_line(file.path, 200)}{beside}  {what}, {size(file.nbytes)}{_NEXT.get(file.format, "")}'
    if file.missing:
        text += f'; {count(file.missing, "tensor")} left out: no values in the trace, or none that .npy holds'
    if file.skipped:
        text += f'; {count(file.skipped, "call")} left out'
    return Text('\n', overflow='fold').join([Text(text), *(Text(one_line(remark), 'yellow') for remark in file.remarks)])


if __name__ == '__main__':
    from types import SimpleNamespace

    from pyfuncdbg.ui.views.sample_trace import demo
    demo(exported_file_view(SimpleNamespace(path='norm.npz', format='npz', nbytes=300, calls=2, missing=1, skipped=0,
                                            beside=(), remarks=())))

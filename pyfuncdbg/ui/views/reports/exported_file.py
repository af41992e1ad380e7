"""One line about a file that `export` has written."""
from __future__ import annotations

from typing import Protocol

from rich.text import Text

from pyfuncdbg.ui.views.escape import one_line
from pyfuncdbg.ui.views.units import count, size


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


def exported_file_view(file: FileFacts) -> Text:
    """The line.

    Args:
        file: The file.
    """
    what = count(file.calls, 'array' if file.format == 'npz' else 'call')
    text = f'{one_line(file.path, 200)}  {what}, {size(file.nbytes)}'
    if file.format == 'chrome':
        text += ', open it at ui.perfetto.dev'
    if file.missing:
        text += f'; {count(file.missing, "tensor")} left out: no values in the trace, or none that .npy holds'
    return Text(text, overflow='fold')


if __name__ == '__main__':
    from types import SimpleNamespace

    from pyfuncdbg.ui.views.sample_trace import demo
    demo(exported_file_view(SimpleNamespace(path='norm.npz', format='npz', nbytes=300, calls=2, missing=1)))

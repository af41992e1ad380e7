"""One line about a picture that `--as svg` or `--as png` has written."""
from __future__ import annotations

from typing import Protocol

from rich.text import Text

from pyfuncdbg.ui.views.escape import one_line
from pyfuncdbg.ui.views.units import size


class PictureFacts(Protocol):
    """Facts of a picture, as the commands give them."""

    @property
    def path(self) -> str:
        """Of the file."""

    @property
    def nbytes(self) -> int:
        """Its size."""

    @property
    def title(self) -> str:
        """What it shows."""


def picture_file_view(picture: PictureFacts) -> Text:
    """The line.

    Args:
        picture: The picture.
    """
    return Text(f'{one_line(picture.path, 200)}  {one_line(picture.title, 150)}, {size(picture.nbytes)}', overflow='fold')


if __name__ == '__main__':
    from types import SimpleNamespace

    from pyfuncdbg.ui.views.sample_trace import demo
    demo(picture_file_view(SimpleNamespace(path='norm_0.svg', nbytes=300, title='norm:0 of call #3')))

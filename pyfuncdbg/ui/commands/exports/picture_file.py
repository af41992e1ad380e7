"""A picture alone as a file, for `--as svg` and `--as png`: heat map, curve, tape or timeline.

PNG needs resvg_py, which is imported when one is written.
"""
from __future__ import annotations

import argparse
from dataclasses import dataclass
from pathlib import Path

from pyfuncdbg.errors import CommandError
from pyfuncdbg.ui.commands.exports.generated_code import word
from pyfuncdbg.ui.commands.exports.new_files import NewFiles
from pyfuncdbg.ui.html.svg_document import SvgDrawing, svg_document
from pyfuncdbg.ui.views.escape import one_line

PICTURES = ('svg', 'png')
_MISSING = "--as png needs resvg_py: pip install 'pyfuncdbg[pictures]'; --as svg needs nothing"
_ZOOM = 2
"""Pixels of a PNG for each of an SVG."""


@dataclass(frozen=True, slots=True)
class PictureFile:
    """A picture that was written.

    Attributes:
        path, format: Of the file: 'svg' or 'png'.
        nbytes: Its size.
        title: What it shows.
    """

    path: str
    format: str
    nbytes: int
    title: str


def output_argument(parser: argparse.ArgumentParser) -> None:
    """Add `-o`."""
    parser.add_argument('-o', '--output', metavar='PATH', help="the file of a picture, which must be new (default: named "
                                                               'after what it shows)')


def refuse_output_of_text(args: argparse.Namespace, form: str | None) -> None:
    """An error where `-o` is given without a picture.

    Raises:
        CommandError: It is.
    """
    if args.output is not None and form not in PICTURES:
        raise CommandError("-o is the file of a picture: add '--as svg' or '--as png'")


def write_picture(drawing: SvgDrawing, form: str, title: str, output: str | None) -> PictureFile:
    """Write a picture to a new file.

    Args:
        drawing: The picture.
        form: 'svg' or 'png'.
        title: Line above it, and its name.
        output: Path as typed; None: made of the title, in the current folder.

    Raises:
        CommandError: The file exists, cannot be written, or PNG cannot be made here.
    """
    text = svg_document(drawing, one_line(title, 150))
    path = Path(output if output is not None else f'{word(title)}.{form}').expanduser()
    data = text.encode('utf-8', 'backslashreplace') if form == 'svg' else _png(text)
    try:
        with NewFiles(path) as files:
            files.binary().write(data)
    except FileExistsError:
        raise CommandError(f'{str(path)!r} exists already: choose another name with -o') from None
    except OSError as error:
        raise CommandError(f'cannot write {str(path)!r}: {error.strerror or error}') from None
    return PictureFile(str(path), form, len(data), title)


def _png(svg: str) -> bytes:
    try:
        import resvg_py
    except ImportError:
        raise CommandError(_MISSING) from None
    return bytes(resvg_py.svg_to_bytes(svg_string=svg, zoom=_ZOOM))

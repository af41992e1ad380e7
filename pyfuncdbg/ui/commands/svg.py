"""Terminal picture as SVG: what a view prints, with its colours, as a file for a page or a message.

Called where an answer is redirected to a file whose name ends in .svg. The document refers to nothing outside itself.
"""
from __future__ import annotations

import io

from rich.console import Console, RenderableType

from pyfuncdbg.ui.views.escape import one_line

MARK = '<svg class="pyfuncdbg-terminal"'
"""Begins each: a file that begins so may be replaced by another picture."""
_FORMAT = MARK + ''' viewBox="0 0 {width} {height}" xmlns="http://www.w3.org/2000/svg">
<style>
.{unique_id}-matrix {{ font-family: "Fira Code", "DejaVu Sans Mono", monospace; font-size: {char_height}px }}
.{unique_id}-title {{ font-size: 18px; font-weight: bold; font-family: sans-serif }}
{styles}
</style>
<defs>
<clipPath id="{unique_id}-clip-terminal"><rect x="0" y="0" width="{terminal_width}" height="{terminal_height}" /></clipPath>
{lines}
</defs>
{chrome}
<g transform="translate({terminal_x}, {terminal_y})" clip-path="url(#{unique_id}-clip-terminal)">
{backgrounds}
<g class="{unique_id}-matrix">
{matrix}
</g>
</g>
</svg>
'''


def svg(view: RenderableType, title: str, width: int = 100) -> str:
    """The document.

    Args:
        view: What is drawn, as on a terminal with colours.
        title: In the frame above it.
        width: Columns.
    """
    console = Console(record=True, file=io.StringIO(), width=width, force_terminal=True, color_system='truecolor',
                      legacy_windows=False, force_jupyter=False, _environ={})
    console.print(view, crop=False, highlight=False)
    return console.export_svg(title=one_line(title, width - 10), code_format=_FORMAT)

"""Reasons for an unknown source line: a remark of a node's card, a line above a list of files."""
from __future__ import annotations

from rich.text import Text

from pyfuncdbg.observers.debug.inspecting.creation_line import Unlocated
from pyfuncdbg.ui.views.units import count

_ATTACH = "attach before the graph is made, or start the program with 'pyfuncdbg run'"


def unlocated_text(reason: Unlocated) -> Text | None:
    """The remark shown instead of the line; None where there is nothing to say."""
    if not reason:
        return None
    words = ('its line is not known, for it was read from a GraphDef or a saved model' if reason == 'imported' else
             f'its line is not known, for it was made before pyfuncdbg attached: {_ATTACH}')
    return Text(words, 'yellow', overflow='fold')


def unlocated_count(before: int, imported: int) -> Text | None:
    """The number of nodes that are missing in a list by line; None if none are."""
    if not before and not imported:
        return None
    words = []
    if before:
        words.append(f'{count(before, "node")} made before pyfuncdbg attached ({_ATTACH})')
    if imported:
        words.append(f'{count(imported, "node")} read from a GraphDef or a saved model')
    return Text(f'without a line: {" and ".join(words)}', 'yellow', overflow='fold')


if __name__ == '__main__':
    from pyfuncdbg.ui.views.page import Page, demo
    shown = unlocated_count(12, 3)
    assert shown is not None
    demo(Page(shown))

"""The first line of every list: its count, the shown part, the order and the active filters."""
from __future__ import annotations

from collections.abc import Mapping

from rich.text import Text

from pyfuncdbg.ui.views.escape import one_line
from pyfuncdbg.ui.views.units import count


def heading(total: int, noun: str, *, plural: str = '', shown: int | None = None,
            filters: Mapping[str, object] | None = None, sort: str = '', dropped: int = 0) -> Text:
    """'412 calls, 50 shown   sort: time   filter: site norm*, failed   dropped: 0'."""
    text = Text.assemble((count(total, noun, plural), 'bold'), overflow='fold')
    if shown is not None and shown < total:
        text.append(f', {shown:,} shown')
    if sort:
        text.append(f'   sort: {one_line(sort, 40)}', 'dim')
    text.append(f'   filter: {_named(filters or {})}', 'dim')
    if dropped:
        text.append(f'   not kept: {dropped:,}', 'yellow')
    return text


def unrecorded_text(ops: bool, stepped: bool) -> str:
    """A remark on nodes that were not recorded; '' where all were.

    Args:
        ops: Whether all nodes were recorded.
        stepped: Whether some were without that, for a run was stepped through.
    """
    if ops:
        return ''
    if stepped:
        return 'nodes of the graph were recorded only where they were stepped through: --ops records all'
    return 'nodes of the graph were not recorded: --ops does that'


def _named(filters: Mapping[str, object]) -> str:
    words = [one_line(name if value is True else f'{name} {value}', 80) for name, value in filters.items()]
    return ', '.join(words) or 'none'


if __name__ == '__main__':
    from pyfuncdbg.ui.views.sample_trace import demo
    demo(heading(412, 'call', shown=50, sort='time', filters={'site': 'norm*', 'failed': True}))

"""A recorded run: its fetches, feeds, results and end."""
from __future__ import annotations

from rich.text import Text

from pyfuncdbg.observers.record.records import RunRecord
from pyfuncdbg.ui.views.calls.error import error_panel
from pyfuncdbg.ui.views.escape import label, one_line
from pyfuncdbg.ui.views.page import Page, Part
from pyfuncdbg.ui.views.tensors.tensor import tensor_card
from pyfuncdbg.ui.views.units import count, seconds

TENSORS = 20
"""Feeds, and fetches, that are shown."""
ELEMENTS = 24
"""Elements to load of each."""


def run_view(run: RunRecord) -> Page:
    """Everything about one run."""
    process = f' of process {run.process}' if run.process != 1 else ''
    title = Text.assemble((f'run #{run.id}{process}', 'bold'), '  ', label(run.label, limit=200), '  ',
                          (one_line(run.host, 40), 'cyan'), overflow='fold')
    took = f'took {seconds(run.duration)}' if run.duration is not None else 'did not end, or was eager code'
    again = f', retry of run #{one_line(run.retry_of, 20)}' if run.retry_of else ''
    nodes = count(len(run.sites), 'node')
    parts: list[Part] = [title, Text(f'{seconds(run.started)} after the start, {took}, {nodes}{again}', 'dim',
                                     overflow='fold')]
    for what, tensors in (('feed', run.feeds), ('fetch', run.fetches)):
        parts += [tensor_card(tensor, what) for tensor in tensors[:TENSORS]]
        if len(tensors) > TENSORS:
            parts.append(Text(f'... {len(tensors) - TENSORS:,} more', 'dim'))
    if run.error is not None:
        parts.append(error_panel(run.error, f'run #{run.id}'))
    return Page(*parts)


if __name__ == '__main__':
    from pyfuncdbg.observers.record.record_contents import load_run
    from pyfuncdbg.ui.views.page import demo
    from pyfuncdbg.ui.views.sample_trace import sample
    demo(*(run_view(load_run(run, ELEMENTS)) for run in sample().runs()))

"""The output of one call under a line that names it (`out`)."""
from __future__ import annotations

from rich.text import Text

from pyfuncdbg.observers.record.records import CallRecord
from pyfuncdbg.ui.views.calls.call import state
from pyfuncdbg.ui.views.calls.output import output_view
from pyfuncdbg.ui.views.escape import label, one_line
from pyfuncdbg.ui.views.page import Page


def call_output(call: CallRecord) -> Page:
    """Everything that one call said, in order."""
    title = Text.assemble((f'call #{one_line(call.number, 20)} ', 'bold'), label(call.label, 'bold'),
                          '  ', state(call), overflow='fold')
    return Page(title, output_view(call.output, call.dropped))


if __name__ == '__main__':
    from pyfuncdbg.observers.record.record_contents import load_call
    from pyfuncdbg.ui.views.page import demo
    from pyfuncdbg.ui.views.sample_trace import sample
    demo(call_output(load_call(sample().call(3))))

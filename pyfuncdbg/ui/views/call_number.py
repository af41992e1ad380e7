"""Names of calls in a line: '#17 norm[3]'; of a run, which is a call too, 'run #4'."""
from __future__ import annotations

from pyfuncdbg.observers.record.records import CallRecord
from pyfuncdbg.ui.views.escape import one_line


def numbered(number: str) -> str:
    """'#17', or 'run #4': the number of a run is one below zero."""
    own = number.rpartition('.')[2]
    return one_line(f'run #{own[1:]}' if own.startswith('-') else f'#{number}', 21)


def named(call: CallRecord, limit: int = 40) -> str:
    """The number, and the label of what has one."""
    return numbered(call.number) + ('' if call.site.kind == 'run' else f' {one_line(call.label, limit)}')


if __name__ == '__main__':
    from pyfuncdbg.ui.views.page import demo
    from pyfuncdbg.ui.views.sample_trace import sample
    demo(*(named(call) for kind in ('run', 'python') for call in sample().calls(kind=kind)))

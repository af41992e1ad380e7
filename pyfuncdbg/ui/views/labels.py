"""Names of calls and sites in a line: '#17 norm[3]', 'run #4', '2nd of 3'."""
from __future__ import annotations

from rich.text import Text

from pyfuncdbg.observers.debug.ordinals import ordinal
from pyfuncdbg.observers.debug.reports.site_labels import SiteLabel
from pyfuncdbg.observers.record.records import CallRecord
from pyfuncdbg.ui.views.escape import one_line
from pyfuncdbg.ui.views.sources.source import place


def call_number_text(number: str) -> str:
    """'#17', or 'run #4': the number of a run is one below zero."""
    own = number.rpartition('.')[2]
    return one_line(f'run #{own[1:]}' if own.startswith('-') else f'#{number}', 21)


def call_name(call: CallRecord, limit: int = 40) -> str:
    """The number, and the label of what has one."""
    return call_number_text(call.number) + ('' if call.site.kind == 'run' else f' {one_line(call.label, limit)}')


def site_label_text(alike: SiteLabel | None) -> Text:
    """'train.py:12', the line that made it; '2nd of 3 at train.py:12' where that made several; '' of one that is alone."""
    if alike is None:
        return Text()
    among = f'{ordinal(alike.number)} of {alike.count:,}' if alike.count > 1 else ''
    line = place(alike.filename, alike.line) if alike.filename else Text()
    return Text.assemble(among, ' at ' if among and line else '', line)


def creation_note(alike: SiteLabel | None) -> Text:
    """The label with its words, for text without a column of its own: '  made at train.py:12'."""
    return Text() if alike is None else Text.assemble('  made ', 'at ' if alike.count == 1 else '', site_label_text(alike))


if __name__ == '__main__':
    from pyfuncdbg.ui.views.sample_trace import demo
    demo(Text.assemble('norm  model.py:5', creation_note(SiteLabel('train.py', 12, 1, 1))),
         site_label_text(SiteLabel('', 0, 2, 3)))

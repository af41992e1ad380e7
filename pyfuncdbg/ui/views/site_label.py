"""Label of a site among those of the same name, function and line."""
from __future__ import annotations

from rich.text import Text

from pyfuncdbg.observers.debug.ordinals import ordinal
from pyfuncdbg.observers.debug.reports.site_labels import SiteLabel
from pyfuncdbg.ui.views.sources.source import place


def which(alike: SiteLabel | None) -> Text:
    """'train.py:12', the line that made it; '2nd of 3' where all are made by the same lines; '' of one that is alone."""
    if alike is None:
        return Text()
    return place(alike.filename, alike.line) if alike.filename else Text(f'{ordinal(alike.number)} of {alike.count:,}')


def creation_note(alike: SiteLabel | None) -> Text:
    """The label with its words, for text without a column of its own: '  made at train.py:12'."""
    return Text() if alike is None else Text.assemble('  made ', 'at ' if alike.filename else '', which(alike))


if __name__ == '__main__':
    from pyfuncdbg.ui.views.page import demo
    demo(Text.assemble('norm  model.py:5', creation_note(SiteLabel('train.py', 12, 1, 2))), which(SiteLabel('', 0, 2, 3)))

"""Which of several sites that look alike one is, in a few words."""
from __future__ import annotations

from rich.text import Text

from pyfuncdbg.debug.alike import Alike
from pyfuncdbg.debug.ordinals import ordinal
from pyfuncdbg.views.source import place


def which(alike: Alike | None) -> Text:
    """'train.py:12', the line that made it; '2nd of 3' where all are made by the same lines; '' of one that is alone."""
    if alike is None:
        return Text()
    return place(alike.filename, alike.line) if alike.filename else Text(f'{ordinal(alike.number)} of {alike.count:,}')


def made(alike: Alike | None) -> Text:
    """The same for a text that has no column for it."""
    return Text() if alike is None else Text.assemble('  made ', 'at ' if alike.filename else '', which(alike))


if __name__ == '__main__':
    from pyfuncdbg.views.page import demo
    demo(Text.assemble('norm  model.py:5', made(Alike('train.py', 12, 1, 2))), which(Alike('', 0, 2, 3)))

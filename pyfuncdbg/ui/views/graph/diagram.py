"""A graph diagram as source text of another program: never folded or cut at the console's width."""
from __future__ import annotations

from rich.console import Console, ConsoleOptions, RenderResult
from rich.segment import Segment

from pyfuncdbg.observers.debug.reports.diagram import Diagram
from pyfuncdbg.ui.views.graph.dot import dot
from pyfuncdbg.ui.views.graph.mermaid import mermaid


def diagram_text(diagram: Diagram) -> UnwrappedText:
    """The diagram as text."""
    return UnwrappedText(mermaid(diagram) if diagram.form == 'mermaid' else dot(diagram))


class UnwrappedText:
    """Lines as they are; a console that prints it must not crop."""

    __slots__ = ('text',)

    def __init__(self, text: str) -> None:
        self.text = text

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        yield Segment(self.text)


if __name__ == '__main__':
    from pyfuncdbg.observers.debug.reports.diagram import Arrow, DiagramBox
    from pyfuncdbg.ui.views.sample_trace import demo
    demo(diagram_text(Diagram('dot', (DiagramBox(('x',), 'feed'), DiagramBox(('mm', 'MatMul'), 'op')), (Arrow(0, 1),))))

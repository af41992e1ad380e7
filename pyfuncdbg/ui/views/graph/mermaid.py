"""A diagram as Mermaid text: for Markdown on GitHub or in a notebook.

Labels are quoted, and of their characters only letters, digits and a few signs stand as they are: the rest are Mermaid's
entity codes, so that no name can end a label, begin a directive, or be read as Markdown (`1. x`, `_x_`).
"""
from __future__ import annotations

from pyfuncdbg.observers.debug.reports.diagram import Diagram, DiagramBox
from pyfuncdbg.ui.views.escape import one_line

LONGEST = 60
"""Characters of one line of a label."""
ARROWS = 450
TEXT = 48_000
"""Mermaid refuses diagrams of more than 500 arrows or 50,000 characters."""
_FOR_ARROWS = 14_000
_PLAIN = frozenset(' /:=,[]')
_SHAPES = {'op': ('["', '"]'), 'python': ('[["', '"]]'), 'feed': ('(["', '"])'), 'constant': ('("', '")'),
           'leaf': ('{{"', '"}}'), 'elsewhere': ('("', '")')}


def mermaid(diagram: Diagram) -> str:
    """The text, ending in a newline; what Mermaid has no room for is left out, and a comment says so."""
    lines = ['flowchart TD']
    room = TEXT - 600
    boxes = 0
    for place, box in enumerate(diagram.boxes):
        line = f'    n{place}{_box(box)}'
        if room - len(line) < _FOR_ARROWS:
            break
        room -= len(line) + 1
        lines.append(line)
        boxes += 1
    arrows = 0
    for arrow in diagram.arrows:
        shaft = '-.->' if arrow.dashed else '==>' if arrow.bad else '-->'
        label = f'|"{quote(arrow.label)}"|' if arrow.label else ''
        line = f'    n{arrow.source} {shaft}{label} n{arrow.target}'
        if arrows >= ARROWS or room < len(line) + 1:
            break
        if arrow.source < boxes and arrow.target < boxes:
            room -= len(line) + 1
            lines.append(line)
            arrows += 1
    missing = diagram.left_out + len(diagram.boxes) - boxes
    if missing or arrows < len(diagram.arrows):
        lines.insert(1, f'    %% {missing} nodes and {len(diagram.arrows) - arrows} arrows are left out')
    if diagram.run:
        lines.insert(1, f'    %% values of run {diagram.run}')
    lines += ['    classDef python fill:#ddf1ff,stroke:#0969da,color:#1f2328',
              '    classDef bad fill:#ffdddd,stroke:#cc0000,color:#1f2328,stroke-width:3px']
    for name in ('python', 'bad'):
        ids = [f'n{i}' for i, box in enumerate(diagram.boxes[:boxes])
               if (box.bad if name == 'bad' else box.kind == 'python' and not box.bad)]
        if ids:
            lines.append(f'    class {",".join(ids)} {name}')
    return '\n'.join(lines) + '\n'


def quote(text: str) -> str:
    """Text as it is written between the quotes of a label."""
    shown = one_line(text, LONGEST)
    return ''.join(c if c in _PLAIN or (c.isascii() and c.isalnum()) or (c == '.' and shown[i + 1:i + 2].isalnum())
                   else f'#{ord(c)};' for i, c in enumerate(shown))


def _box(box: DiagramBox) -> str:
    before, after = _SHAPES[box.kind]
    return before + '<br/>'.join(quote(line) for line in box.lines) + after


if __name__ == '__main__':
    from pyfuncdbg.observers.debug.reports.diagram import Arrow
    print(mermaid(Diagram('mermaid', (DiagramBox(('x',), 'feed'),
                                      DiagramBox(('norm', 'PyFunc "normalize"'), 'python', True)),
                          (Arrow(0, 1, '1', bad=True),))), end='')

"""A diagram as DOT text: for Graphviz (`dot -Tsvg`). Labels are quoted strings in which nothing has a meaning."""
from __future__ import annotations

from pyfuncdbg.observers.debug.reports.diagram import Arrow, Diagram, DiagramBox
from pyfuncdbg.ui.views.escape import one_line

LONGEST = 80
"""Characters of one line of a label."""
_SHAPES = {'op': 'box', 'python': 'component', 'feed': 'invhouse', 'constant': 'note', 'leaf': 'ellipse',
           'elsewhere': 'plaintext'}


def dot(diagram: Diagram) -> str:
    """The text, ending in a newline."""
    lines = ['digraph pyfuncdbg {', '    node [fontname="monospace", fontsize=10];',
             '    edge [fontname="monospace", fontsize=9];']
    if diagram.run:
        lines.insert(1, f'    // values of run #{diagram.run}')
    if diagram.left_out:
        lines.append(f'    label="{diagram.left_out} nodes are left out";')
    lines += [f'    n{place} [{_box(box)}];' for place, box in enumerate(diagram.boxes)]
    lines += [f'    n{arrow.source} -> n{arrow.target}{_arrow(arrow)};' for arrow in diagram.arrows]
    return '\n'.join([*lines, '}']) + '\n'


def quote(text: str) -> str:
    r"""Text as it is written between double quotes: a backslash is doubled, or `\N` would be the node's name."""
    return one_line(text, LONGEST).replace('\\', '\\\\').replace('"', '\\"')


def _box(box: DiagramBox) -> str:
    label = '\\n'.join(quote(line) for line in box.lines)
    colour = ', color="red", penwidth=3' if box.bad else ', color="blue"' if box.kind == 'python' else ''
    return f'label="{label}", shape={_SHAPES[box.kind]}{colour}'


def _arrow(arrow: Arrow) -> str:
    words = [f'label="{quote(arrow.label)}"'] if arrow.label else []
    words += ['style=dashed'] if arrow.dashed else []
    words += ['color="red", penwidth=2'] if arrow.bad else []
    return f' [{", ".join(words)}]' if words else ''


if __name__ == '__main__':
    print(dot(Diagram('dot', (DiagramBox(('x',), 'feed'), DiagramBox(('norm', 'PyFunc "normalize"'), 'python', True)),
                      (Arrow(0, 1, '1', bad=True),))), end='')

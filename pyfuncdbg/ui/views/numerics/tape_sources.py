"""Sources of a backward pass: those without a gradient and the repair, and the steps behind the other gradients.

`ui/views/numerics/tape.py` draws it below the tree.
"""
from __future__ import annotations

from rich.text import Text

from pyfuncdbg.observers.debug.gradients.tape import Tape, TapeSource
from pyfuncdbg.ui.views.escape import label, one_line
from pyfuncdbg.ui.views.page import Part
from pyfuncdbg.ui.views.units import count

DEAD = 20
"""Sources without a gradient that are listed."""
BY = 3


def dead_lines(tape: Tape) -> list[Part]:
    """One line for each source without a gradient, and below it what mends that."""
    dead = tape.dead
    if not dead:
        return []
    lines: list[Part] = [Text(), Text(f'{count(len(dead), "source")} without a gradient: it is None, not connected',
                                      'bold yellow', overflow='fold')]
    for source in dead[:DEAD]:
        lines.append(Text.assemble(label(source.name, 'bold', 80), f' {one_line(source.kind, 40)}  ',
                                   (one_line(source.dead, 400), 'yellow'), overflow='fold'))
        if source.fix:
            lines.append(Text.assemble('    -> ', (one_line(source.fix, 400), 'green'), overflow='fold'))
    if len(dead) > DEAD:
        lines.append(Text(f'... {len(dead) - DEAD:,} more', 'dim'))
    return lines


def makers(tape: Tape, source: TapeSource) -> str:
    """Names of the forward nodes by which a gradient came."""
    nodes = {node.number: node.name for node in tape.nodes}
    names = [nodes.get(edge.source, '') for edge in tape.leaves if edge.gradient.name == source.name]
    found = [f'{name} x{names.count(name)}' if names.count(name) > 1 else name for name in dict.fromkeys(names) if name]
    return ', '.join(found[:BY]) + (', ...' if len(found) > BY else '')


if __name__ == '__main__':
    from pyfuncdbg.ui.views.page import Page, demo
    demo(Page(*dead_lines(Tape(3, 1, 'GradientTape.gradient', (), (), (), sources=(
        TapeSource('9', 'w', 'Variable', None, "py_function 'scale' (model.py:4) captures it",
                   'pass it: tf.py_function(scale, [..., w], Tout)'),)))))

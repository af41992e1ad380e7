"""`tape`: the gradients of a run as a tree, or as a diagram."""
from __future__ import annotations

import argparse

from rich.console import RenderableType

from pyfuncdbg.observers.debug.gradients.tape import Tape, tape_of
from pyfuncdbg.observers.debug.reports.diagram import Diagram, tape_diagram
from pyfuncdbg.ui.commands.engine.arguments import one_of, positive
from pyfuncdbg.ui.commands.engine.command import Command, Context
from pyfuncdbg.ui.views.graph.diagram import diagram_text
from pyfuncdbg.ui.views.numerics.tape import check_mark, tape_view

FORMS = ('text', 'mermaid', 'dot')
BOXES = 300
"""Boxes of a diagram."""


def _tape(context: Context, args: argparse.Namespace) -> Tape | Diagram:
    with context.progress('reading the tape, backward steps') as tell:
        tape = tape_of(context.trace, args.run, tell)
    if args.form == 'text':
        return tape
    marks = {(mark.step, mark.slot): check_mark(mark).plain for mark in tape.checks}
    return tape_diagram(tape, args.form, BOXES, lambda step, slot: marks.get((step, slot), ''))


def _arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument('--run', metavar='N', type=positive, help='of run N (default: the newest with gradients)')
    parser.add_argument('--as', dest='form', metavar='FORM', type=one_of(FORMS, 'form'), default='text',
                        help='text (default), mermaid or dot: a diagram for a document or Graphviz')


def _draw(result: Tape | Diagram) -> RenderableType:
    return diagram_text(result) if isinstance(result, Diagram) else tape_view(result)


TAPE = Command('tape', 'the gradients of a run as a tree, with magnitudes and results of check', 'judge', _tape,
               _draw, _arguments,
               examples=('tape', 'tape --as mermaid'))
COMMANDS: tuple[Command, ...] = (TAPE,)

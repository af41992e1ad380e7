"""`ni`, `li`, `lo`: a node, its ancestors and its descendants, in the trace or in the stopped run."""
from __future__ import annotations

import argparse
from dataclasses import dataclass

from rich.console import RenderableType

from pyfuncdbg.errors import CommandError
from pyfuncdbg.observers.debug.cards.node_card import NodeCard, node_card
from pyfuncdbg.observers.debug.inspecting.node_search import FoundNode, find_node
from pyfuncdbg.observers.debug.inspecting.tensor_values import NodeValues, call_at
from pyfuncdbg.observers.debug.reports.diagram import Diagram, lineage_diagram
from pyfuncdbg.observers.debug.reports.lineage import Direction, Lineage, lineage
from pyfuncdbg.ui.commands.engine.arguments import one_of, positive
from pyfuncdbg.ui.commands.engine.command import Command, Context
from pyfuncdbg.ui.views.graph.diagram import diagram_text
from pyfuncdbg.ui.views.graph.lineage import lineage_view
from pyfuncdbg.ui.views.graph.node import node_view

DEPTH, DEEP = 3, 20
ROWS = 100
FORMS = ('text', 'mermaid', 'dot')
_NODE = "node name or the end of it, such as 'norm'; a tensor 'norm:0', a call '#17', a function"


@dataclass(frozen=True, slots=True)
class LineageTree:
    """A lineage and its options for drawing."""

    lineage: Lineage
    types: bool


def named_node(context: Context, text: str, run: int | None) -> FoundNode:
    """The node that is meant: in the graph of `run`, or of the run that is stopped, or anywhere.

    Raises:
        CommandError: There is none of the name.
    """
    stopped_run = context.stop.run if context.stop is not None and run is None else None
    if stopped_run is not None and stopped_run.sites:
        try:
            return find_node(context.trace, text, stopped_run.id)
        except CommandError:
            pass                                # the node may be of another run
    here = call_at(context.trace, context.stop) if run is None else None
    return find_node(context.trace, text, run, here.site if here is not None else None)


def _card(context: Context, args: argparse.Namespace) -> NodeCard:
    return node_card(context.trace, named_node(context, args.node, args.run), context.stop, dumps=args.dumps,
                     all_attrs=args.attributes, all_frames=args.traceback)


def _card_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument('node', metavar='NODE', help=_NODE)
    parser.add_argument('-a', '--attributes', action='store_true', help='all attributes, in full')
    parser.add_argument('-d', '--dumps', action='store_true', help='list its newest calls and their recorded values')
    parser.add_argument('-t', '--traceback', action='store_true', help="the whole creation stack, with frames of libraries")
    parser.add_argument('--run', metavar='N', type=positive, help='as it was in run N')


def _tree(direction: Direction) -> Command:
    def run(context: Context, args: argparse.Namespace) -> LineageTree | Diagram:
        node = named_node(context, args.node, args.run)
        depth = args.depth or (DEEP if args.recursive else DEPTH)
        values = NodeValues(context.trace, node.graph, context.stop, node.name)
        tree = lineage(node.graph, node.name, direction, depth=depth, limit=args.n, control=args.control,
                       value=values.tensor, run=values.run, repeats=lambda: values.repeats, ops=context.trace.info().ops)
        if args.form == 'text':
            return LineageTree(tree, args.types)
        nodes = node.graph.nodes
        return lineage_diagram(node.graph, tree, args.form, run=values.run,
                               call=lambda name: values.call(nodes[name]) if name in nodes else None)
    name, words = ('li', 'goes into') if direction == 'inputs' else ('lo', 'comes of')
    return Command(name, f'list {direction}: the tree of what {words} a node', 'look', run, _draw_tree, _tree_arguments,
                   (f'list_{direction}',), examples=(f'{name} loss', f'{name} -r -c loss'))


def _tree_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument('node', metavar='NODE', help=_NODE)
    parser.add_argument('-d', '--depth', metavar='D', type=positive, help=f'levels (default {DEPTH})')
    parser.add_argument('-r', '--recursive', action='store_true', help=f'{DEEP} levels')
    parser.add_argument('-c', '--control', action='store_true', help='control inputs too')
    parser.add_argument('-t', '--types', action='store_true', help='show op types')
    parser.add_argument('-n', metavar='K', type=positive, default=ROWS, help=f'show at most K rows (default {ROWS})')
    parser.add_argument('--run', metavar='N', type=positive, help='with the values of run N')
    parser.add_argument('--as', dest='form', metavar='FORM', type=one_of(FORMS, 'form'), default='text',
                        help='text (default), mermaid or dot: the same as a diagram, for a document or Graphviz')


def _draw_tree(result: LineageTree | Diagram) -> RenderableType:
    if isinstance(result, Diagram):
        return diagram_text(result)
    return lineage_view(result.lineage, types=result.types)


NI = Command('ni', 'show a node: its kind, inputs, outputs, values, attributes and where it was made', 'look', _card,
             node_view, _card_arguments, ('node_info',),
             examples=('ni norm', 'ni -a -t norm'))
LI, LO = _tree('inputs'), _tree('outputs')
COMMANDS: tuple[Command, ...] = (NI, LI, LO)

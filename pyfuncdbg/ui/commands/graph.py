"""`graph` and `tape`: nodes of a run or graph, and gradients of a run.

A list, a tree or a diagram.
"""
from __future__ import annotations

import argparse
from collections.abc import Callable
from dataclasses import replace
from fnmatch import fnmatchcase
from typing import Any

from rich.console import RenderableType

from pyfuncdbg.errors import CommandError, TypedCommand
from pyfuncdbg.hooks.module_structure import LEFT_OUT, ModuleStructure, modules_of
from pyfuncdbg.observers.debug.gradients.tape import Tape, tape_of
from pyfuncdbg.observers.debug.inspecting.recorded_graph import graphs_of, has_graph, plan_of
from pyfuncdbg.observers.debug.inspecting.tensor_values import NodeValues
from pyfuncdbg.observers.debug.reports.diagram import Diagram, graph_diagram, tape_diagram
from pyfuncdbg.observers.debug.reports.node_list import NodeList, NodeListRow, node_rows
from pyfuncdbg.observers.record.index.query import site_matches
from pyfuncdbg.observers.record.records import TensorRecord
from pyfuncdbg.ui.commands.engine.arguments import filters_of, one_of, positive
from pyfuncdbg.ui.commands.engine.command import Command, Context
from pyfuncdbg.ui.commands.exports.picture_file import (
    PICTURES,
    PictureFile,
    output_argument,
    refuse_output_of_text,
    write_picture,
)
from pyfuncdbg.ui.html.tape import tape_drawing
from pyfuncdbg.ui.views.graph.diagram import diagram_text
from pyfuncdbg.ui.views.graph.node_list import node_list_view
from pyfuncdbg.ui.views.numerics.tape import check_mark, tape_view
from pyfuncdbg.ui.views.reports.picture_file import picture_file_view

SHOWN = 60
RUNS = 1_000
BOXES = 300
FORMS = ('text', 'mermaid', 'dot')
SORTS: dict[str, Callable[[NodeListRow], Any]] = {
    'order': lambda row: row.position,
    'name': lambda row: row.site.name,
    'type': lambda row: (row.site.op_type, row.position),
    'function': lambda row: (not row.site.function, row.site.function, row.position),
    'users': lambda row: -row.users,
    'calls': lambda row: -(row.time.calls if row.time is not None else -1),
    'time': lambda row: -(row.time.total if row.time is not None else -1.0),
}


def _graph(context: Context, args: argparse.Namespace) -> NodeList | Diagram:
    run = args.run
    stopped = context.stop.run if context.stop is not None else None
    if run is None and stopped is not None and stopped.sites:
        run = stopped.id
    elif run is None and not has_graph(context.trace):
        run = _newest_with_modules(context, stopped.id if stopped is not None else None)
    over = context.stop is None or context.stop.phase == 'end'
    live = stopped is not None and stopped.id == run and not over
    graphs = graphs_of(context.trace, plan_of(context.trace, run), run)
    rows: list[NodeListRow] = []
    values_at: dict[tuple[int, int], NodeValues] = {}
    for graph in graphs:
        values = NodeValues(context.trace, graph, context.stop)
        of_graph = node_rows(context.trace, graph)
        values_at.update(((row.site.process, row.site.id), values) for row in of_graph)
        rows += [replace(row, position=len(rows) + row.position) for row in of_graph]
    rows = [row for row in rows if args.site is None or site_matches(args.site, row.site)]
    if args.form != 'text':
        if len(graphs) > 1:
            raise CommandError('functions of this run have nodes of one name, which a diagram cannot tell apart: ',
                               TypedCommand('graph'), ' lists them')
        nodes = graph.nodes
        return graph_diagram(graph, args.form, args.n or BOXES, run=values.run, names=[row.site.name for row in rows],
                             call=lambda name: values.call(nodes[name]) if name in nodes else None)
    rows.sort(key=SORTS[args.sort])
    plan = graph.plan
    assert plan is not None                     # `plan_of` chose it
    rows_shown = tuple(replace(row, value=_value(values_at[row.site.process, row.site.id], row))
                       for row in rows[:args.n or SHOWN])
    ops = any(row.time is not None and row.time.site.kind == 'op' for row in rows) or context.trace.count(
        kind='op', run=run) > 0 or context.trace.info().ops
    ran = sum(row.time is not None or row.handle or row.unseen or row.possible_calls > 0 for row in rows)
    return NodeList(rows_shown, len(rows), ran, plan.label, plan.runs, ops, live, run, plan.feeds, plan.fetches,
                    filters_of(args, 'site', 'run'), args.sort, values.run,
                    *_modules(context, run, args.site))


def _newest_with_modules(context: Context, stopped: int | None) -> int | None:
    """The run of a stop if it is a call of modules, else the newest that is."""
    runs = context.trace.calls(kind='run', newest_first=True, limit=RUNS)
    found = [call.run for call in runs if modules_of(call.site.attrs)]
    return stopped if stopped in found else next(iter(found), None)


def _modules(context: Context, run: int | None, pattern: str | None) -> tuple[tuple[ModuleStructure, ...], int]:
    """The modules of a run whose path or class is of a pattern, and how many were not recorded."""
    call = next(iter(context.trace.calls(kind='run', run=run)), None) if run is not None else None
    if call is None:
        return (), 0
    modules = tuple([one for one in modules_of(call.site.attrs) if pattern is None or fnmatchcase(one.path, pattern)
                     or fnmatchcase(one.kind, pattern)])
    left_out = call.site.attrs.get(LEFT_OUT)
    return modules, left_out if isinstance(left_out, int) else 0


def _value(values: NodeValues, row: NodeListRow) -> TensorRecord | None:
    return values.tensor(row.site.outputs[0]) if row.site.outputs else None


def _arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument('--run', metavar='N', type=positive,
                        help='of run N (default: the stopped run, else all runs of the newest graph, '
                             'else the newest call of modules)')
    parser.add_argument('--site', metavar='GLOB',
                        help="nodes, op types or functions of this name or pattern, such as 'layer*/norm'")
    parser.add_argument('--sort', metavar='KEY', type=one_of(tuple(SORTS), 'sort key'), default='order',
                        help=', '.join(SORTS) + '; of numbers the most first')
    parser.add_argument('-n', metavar='K', type=positive,
                        help=f'show at most K (default {SHOWN}, in a diagram {BOXES})')
    _form_argument(parser)


def _form_argument(parser: argparse.ArgumentParser, pictures: tuple[str, ...] = ()) -> None:
    more = f'; a picture: {" or ".join(pictures)}' if pictures else ''
    parser.add_argument('--as', dest='form', metavar='FORM', type=one_of((*FORMS, *pictures), 'form'), default='text',
                        help=f'text (default), mermaid or dot: a diagram for a document or Graphviz{more}')


def _draw(result: NodeList | Tape | Diagram | PictureFile) -> RenderableType:
    if isinstance(result, PictureFile):
        return picture_file_view(result)
    if isinstance(result, Diagram):
        return diagram_text(result)
    return tape_view(result) if isinstance(result, Tape) else node_list_view(result)


GRAPH = Command('graph', 'list the nodes of a graph in order of execution, or draw it as Mermaid or DOT', 'look', _graph,
                _draw, _arguments,
                examples=('graph', "graph --site 'layer*' --as dot"))


def _tape(context: Context, args: argparse.Namespace) -> Tape | Diagram | PictureFile:
    refuse_output_of_text(args, args.form)
    with context.progress('reading the tape, backward steps') as tell:
        tape = tape_of(context.trace, args.run, tell)
    if args.form == 'text':
        return tape
    if args.form in PICTURES:
        return write_picture(tape_drawing(tape), args.form, f'gradient tape of run {tape.run}', args.output)
    marks = {(mark.step, mark.slot): check_mark(mark).plain for mark in tape.checks}
    return tape_diagram(tape, args.form, BOXES, lambda step, slot: marks.get((step, slot), ''))


def _tape_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument('--run', metavar='N', type=positive, help='of run N (default: the newest with gradients)')
    _form_argument(parser, PICTURES)
    output_argument(parser)


TAPE = Command('tape', 'the gradients of a run as a tree, with magnitudes and results of check', 'judge', _tape,
               _draw, _tape_arguments,
               examples=('tape', 'tape --as mermaid', 'tape --as svg'))
COMMANDS: tuple[Command, ...] = (GRAPH, TAPE)

"""Pictures of graphs, source, time and gradients: at several widths, with and without colour, in ASCII, hostile traces."""
from __future__ import annotations

import re
from dataclasses import replace

import numpy as np
import pydot
import pytest
from rich.cells import cell_len
from written_trace import tensor, trace_of

from pyfuncdbg.hooks.call import Frame
from pyfuncdbg.observers.debug.gradients.tape import EdgeMark, gradient_of
from pyfuncdbg.observers.debug.reports.diagram import Arrow, Diagram, DiagramBox
from pyfuncdbg.observers.debug.reports.timeline import Span, timeline
from pyfuncdbg.observers.record.index.time_spans import SpanRecord
from pyfuncdbg.observers.record.records import CallRecord, RunRecord, SiteRecord
from pyfuncdbg.ui.commands.engine.command import Context
from pyfuncdbg.ui.commands.execute import execute
from pyfuncdbg.ui.views.calls.timeline import axis_row, lane_row
from pyfuncdbg.ui.views.graph.dot import dot
from pyfuncdbg.ui.views.graph.mermaid import ARROWS, TEXT, mermaid
from pyfuncdbg.ui.views.numerics.tape import check_mark, flow_bar
from pyfuncdbg.ui.views.pictures.cost_bar import cost_bar, percent
from pyfuncdbg.ui.views.sample_trace import sample

NASTY = '[red]x[/] \x1b[2J\x07\r\n\u202e\ud800\U0001f600\u200d日本 "]; n0 --> n1 %%{init}%% \\N' + 'n' * 500
STYLES = re.compile(r'\x1b\[[\d;]*m')
LINES = ('graph', 'graph --sort time', 'ni NODE -a -d -t', 'ni NODE', 'li NODE -c -t', 'lo NODE -r', 'lp', 'lp --by line',
         'lp --by function', 'lp --by type', 'lp --by file', 'ls --all', 'ps FILE', 'ps FILE --all', 'timeline', 'tape')


EDGES = [['2', 0, 'OK', 1e-9, None, None], ['2', 1, 'BAD', 1.0, float('nan'), 2.0], [1, 2], 'x', ['2', 'y', 3, 4, 5, 6]]
"""Of `check`, which was here; in several broken ways too."""


def hostile():
    """Nasty words wherever a trace can hold words, and attributes of the wrong shape."""
    attrs = {NASTY: NASTY, '_device': NASTY, '_control': [NASTY, 3], 'list': [NASTY, {NASTY: b'\xff\x00'}], 'token': 3,
             '_constants': [[NASTY + ':0', 3, 'x', None], 5, ['c:0', NASTY, [2, 'y'], [NASTY, b'\xff', float('nan')]]]}
    site = SiteRecord(1, 1, NASTY, NASTY, 'python', NASTY, NASTY, NASTY, 3, NASTY * 3, (Frame(NASTY, 7, NASTY),) * 9,
                      (NASTY, 'c:0', '', NASTY + ':0'), (NASTY + ':0', ''), attrs)
    other = replace(site, id=2, name='b', kind='op', inputs=(NASTY + ':0',), attrs={'_control': 'x', '_constants': 5})
    step = replace(site, id=3, name=NASTY, kind='gradient', stack=(), attrs={'forward': NASTY, 'inputs': [NASTY]})
    bad = tensor(NASTY, np.array([np.nan, np.inf]))
    calls = [CallRecord(str(n), 1, 1, one, n, 8123, 0.001 * n, None if n == 5 else 1e-4, (bad,), (bad, bad), (), None,
                        '1' if one is step else '', '1' if n == 4 else '')
             for n, one in enumerate((site, step, other, site, other), 1)]
    runs = [RunRecord(1, 1, NASTY, NASTY, 0.0, 1.0, (bad,), (bad,), None, (1, 2, 99))]
    return trace_of(calls, runs, NASTY, notes=(('check', {'edges': EDGES}), ('check', {'edges': 7})))


def answered(line, trace, node='b', file='xn'):
    words = [{'NODE': node, 'FILE': file}.get(word, word) for word in line.split()]
    answer = execute(words, Context(trace))
    return answer.command.view(answer.result)


@pytest.mark.parametrize('line', LINES)
@pytest.mark.parametrize('width', [30, 80, 160])
@pytest.mark.parametrize('color', [False, True])
def test_nothing_nasty_gets_through(draw, line, width, color):
    for node in ('b', NASTY):
        text = draw(answered(line, hostile(), node, NASTY), width, color=color)
        plain = STYLES.sub('', text) if color else text
        assert all(c == '\n' or c.isprintable() for c in plain)
        plain.encode('utf-8')
        assert max(cell_len(row) for row in plain.splitlines()) <= width
        assert 'x[/]' not in plain or '[red]x[/]' in plain


@pytest.mark.parametrize('line', LINES[:-1])
def test_colour_adds_no_words_and_ascii_is_enough(draw, line):
    def view():
        return answered(line, sample(), 'norm', 'model.py')
    assert STYLES.sub('', draw(view(), 80, color=True)) == draw(view(), 80)
    assert draw(view(), 80, ascii_only=True).isascii()


def test_a_sample_is_read_off_the_pictures(draw):
    card = draw(answered('ni NODE', sample(), 'norm'), 80)
    assert 'node norm  EagerPyFunc' in card and 'mm:0' in card and '-> scale' in card and '3 calls' in card
    tree = draw(answered('li NODE', sample(), 'scale'), 80, ascii_only=True).splitlines()
    assert tree[1].startswith('scale') and tree[2].startswith('`- norm:0 normalize') and tree[3].startswith('   `- mm:0')
    source = draw(answered('ps FILE', sample(), file='model.py'), 80)
    assert 'called by norm' in source and '2 nodes' in source.splitlines()[1]


def test_the_title_is_blue_before_a_run_and_red_where_it_failed(draw):
    call = sample().call(1)
    never = replace(call.site, id=9, name='never')
    trace = trace_of([call], [replace(sample().runs()[0], sites=(1, 9))])
    trace.sites = lambda: [call.site, never]
    assert '\x1b[1;34mnode ' in draw(answered('ni NODE', trace, 'never'), 80, color=True)
    assert 'did not run' in draw(answered('ni NODE', trace, 'never'), 80)
    failed = draw(answered('ni NODE', sample(), 'norm'), 80, color=True)
    assert '\x1b[1;31mraised AttributeError' in failed


# ---------------------------------------------------------------- large graphs
def op(number, name, inputs):
    return SiteRecord(number, 1, name, 'Mul', 'op', 'tf', '', '', 0, '', (Frame('model.py', number // 50, 'f'),), inputs,
                      (f'{name}:0',))


def large(nodes=10_000):
    sites = [op(i, f'layer_{i // 100}/op_{i}',
                tuple(f'layer_{j // 100}/op_{j}:0' for j in {max(0, i - 1), i // 2} if j != i)) for i in range(nodes)]
    return of_sites(sites)


def of_sites(sites):
    nodes = len(sites)
    trace = trace_of([], [RunRecord(1, 1, 'Session.run', 'tf', 0.0, 1.0, (), (), None, tuple(range(nodes)))])
    trace.sites = lambda: sites
    trace.profile = lambda run=None: []
    trace.usage = list
    trace.newest = lambda site, run=None, limit=1: []
    return trace


@pytest.mark.parametrize(('line', 'most'), [
    ('li NODE -r', 101), ('lo NODE -r', 101), ('graph', 66), ('ni NODE', 40), ('lp --by line', 45)])
def test_ten_thousand_nodes_are_a_screenful(draw, line, most):
    node = 'layer_0/op_0' if line.startswith('lo') else 'layer_99/op_9999'
    rows = draw(answered(line, large(), node), 100).splitlines()
    assert len(rows) <= most
    if line in ('li NODE -r', 'lo NODE -r'):
        assert rows[0].startswith('9,999 nodes') and ' shown' in rows[0]
    if line == 'graph':
        assert rows[1].startswith('10,000 nodes, 60 shown')


def test_diamonds_after_one_another_are_not_walked_once_a_way():
    sites = [op(0, 'top', ())]
    for i in range(1, 600, 3):
        above = sites[-1].outputs
        sites += [op(i, f'left_{i}', above), op(i + 1, f'right_{i}', above),
                  op(i + 2, f'both_{i}', (f'left_{i}:0', f'right_{i}:0'))]
    found = execute(f'li {sites[-1].name} -d 5000 -n 50000', Context(of_sites(sites))).result.lineage
    assert found.reached == 600 and len(found.rows) == 801


def test_a_chain_of_any_length_is_walked_without_recursion():
    found = execute('li layer_99/op_9999 -d 100000 -n 20000', Context(large())).result.lineage
    assert found.reached == found.shown == 9_999
    assert sum(not row.listed_at for row in found.rows) == 10_000


# ---------------------------------------------------------------- diagrams
WORDS = (NASTY, 'a"]; click n0 href "javascript:alert(1)"', '%%{init: {}}%%', 'end', '`md`', '- list', '1. list', '#35;',
         'a|b', '</script><b>', '\\', '"', '\\N\\"', 'subgraph', '', '---\ntitle: x\n---', '{{x}}', "'")
NASTY_DIAGRAM = Diagram('dot', tuple(DiagramBox((word, word), kind, i % 3 == 0) for i, word in enumerate(WORDS)
                                     for kind in ('op', 'python', 'feed', 'constant', 'leaf', 'elsewhere')),
                        tuple(Arrow(i, i + 1, word, i % 2 == 0, i % 3 == 0) for i, word in enumerate(WORDS)), 3)


def test_dot_of_nasty_names_is_dot():
    (graph,) = pydot.graph_from_dot_data(dot(NASTY_DIAGRAM))
    nodes = [node for node in graph.get_nodes() if node.get_name().startswith('n') and node.get_name()[1:].isdigit()]
    assert len(nodes) == len(NASTY_DIAGRAM.boxes) and len(graph.get_edges()) == len(WORDS)
    assert {'URL', 'href'}.isdisjoint(key for node in nodes for key in node.get_attributes())
    assert graph.get_label() == '"3 nodes are left out"'


_LABEL = r'"[A-Za-z0-9 /:=,\[\].#;<>]*"'
_NODE = re.compile(rf'    n\d+(\[{_LABEL}\]|\[\[{_LABEL}\]\]|\(\[{_LABEL}\]\)|\({_LABEL}\)|\{{\{{{_LABEL}\}}\}})')
_LINE = re.compile(rf'    n\d+ (-->|==>|-\.->)(\|{_LABEL}\|)? n\d+|flowchart TD|'
                   r'    %% \d+ nodes and \d+ arrows are left out|'
                   r'    classDef (python|bad) [a-z0-9:,#-]+|    class n\d+(,n\d+)* (python|bad)')


def test_mermaid_of_nasty_names_keeps_to_its_quoting():
    for line in mermaid(NASTY_DIAGRAM).splitlines():
        assert _NODE.fullmatch(line) or _LINE.fullmatch(line), line
        for label in re.findall(_LABEL, line):
            assert not re.search(r'[<>]', label.replace('<br/>', '')) and not re.search(r'#(?!\d+;)', label)
            assert not re.search(r'\d\. ', label)                      # Mermaid would read a list


def test_mermaid_is_no_larger_than_mermaid_takes():
    boxes = tuple(DiagramBox((f'layer_{i}/' + 'x' * 300, 'MatMul'), 'op') for i in range(2_000))
    shown = mermaid(Diagram('mermaid', boxes, tuple(Arrow(i, i + 1) for i in range(1_999))))
    arrows = shown.count(' --> ')
    assert len(shown) <= TEXT and 100 < arrows <= ARROWS and 'are left out' in shown.splitlines()[1]
    defined = set(re.findall(r'^    (n\d+)\[', shown, re.MULTILINE))
    assert set(re.findall(r'\b(n\d+)\b', '\n'.join(line for line in shown.splitlines() if '-->' in line))) <= defined


# ---------------------------------------------------------------- pieces
def test_bars():
    assert cost_bar(0.5, 8, ascii_only=True) == '####    ' and cost_bar(1e-9, 4, ascii_only=True) == '#   '
    assert cost_bar(0.5, 4) == '██  ' and cost_bar(2.0, 3) == '███' and cost_bar(float('nan'), 2) == '  '
    assert (percent(0.421), percent(0.0001), percent(0)) == ('42%', '<1%', '')
    assert len(cost_bar(0.999, 7)) == 7


@pytest.mark.parametrize(('values', 'bar'), [([1.0], '[########  ]'), ([1e-9], '[#         ]'), ([1e9], '[##########]'),
                                             ([0.0], '[          ]'), ([np.nan, 1], '[!!!!!!!!!!]')])
def test_bars_of_gradients(values, bar):
    assert flow_bar(gradient_of('g', tensor('g', np.array(values))), 10) == bar


def test_marks_of_checks():
    assert check_mark(EdgeMark('1', 0, 'OK', 2e-9)).plain == 'OK 2e-09'
    assert check_mark(EdgeMark('1', 0, 'BAD', 1.0, 2.0, 1.0)).plain == 'BAD got 2, expected 1'
    assert not check_mark(None) and not check_mark(EdgeMark('1', 0, 'unchecked'))


def spans(*ends, **flags):
    return [Span(str(i), 'norm[1]', 'python', start, end, **{'running': False, 'failed': False, 'bad': False, **flags})
            for i, (start, end) in enumerate(ends)]


def test_rows_of_the_timeline():
    assert lane_row(spans((0, 5), (6, 10)), 0, 10, 20).plain == '[norm[1]==] [no...]]'
    assert lane_row(spans((0, 10)), 0, 10, 12).plain == '[norm[1]===]'
    assert lane_row(spans((0, 10), failed=True), 0, 10, 12).plain == '[norm[1]xxx]'
    assert lane_row(spans((0, 10), bad=True), 0, 10, 12).plain == '[norm[1]!!!]'
    assert lane_row(spans((0, 20)), 0, 10, 12).plain == '[norm[1]===>'
    assert lane_row(spans((1, 1.1), (1.2, 1.3), (5, 5.1)), 0, 10, 10).plain == ' :   |    '
    assert lane_row(spans((1, 1.1), bad=True), 0, 10, 10).plain == ' !        '
    assert lane_row([], 0, 0, 4).plain == '    '
    assert axis_row(0.001, 0.002, 40).plain.startswith('|1 ms           |1.4 ms') and len(axis_row(0, 1, 40).plain) == 40
    assert any('reverse' in str(span.style) for span in lane_row(spans((0, 5)), 0, 10, 20, selected='0').spans)


def test_calls_inside_of_calls_lie_below_them():
    def at(number, start, length, thread=1):
        return SpanRecord(str(number), f'norm[{number}]', 'python', 1, thread, start, length, False, False)
    found = timeline([at(1, 0.0, 10.0), at(2, 1.0, 3.0), at(3, 2.0, 1.0), at(4, 5.0, 4.0), at(5, 20.0, None),
                      at(6, 0, 1, 2)], 0.0, 30.0)
    first, second = found.lanes
    assert [[span.number for span in row] for row in first.rows] == [['1', '5'], ['2', '4'], ['3']]
    assert first.rows[0][1].running and first.rows[0][1].end == 30.0 and second.thread == 2
    assert timeline([at(1, 0.0, 10.0), at(2, 1.0, 3.0)], 0.0, 30.0, depth=1).shown == 1


"""The tape as SVG: one box a step and a leaf, one line a gradient, values on hover, no two boxes in one place."""
from __future__ import annotations

import re
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings, strategies as st
from parsed_html import Element, parsed
from written_trace import tensor

from pyfuncdbg.observers.debug.gradients.tape import EdgeMark, Tape, TapeEdge, TapeNode, gradient_of
from pyfuncdbg.ui.html.tape import tape_html
from pyfuncdbg.ui.html.tape_places import LEAVES, STEPS, places_of


def gradient(name: str, *values: float):
    return gradient_of(name, tensor(name, np.array(values)))


def node(number: int, name: str = '', op_type: str = 'Mul') -> TapeNode:
    return TapeNode(str(number), f'{name}_grad[0]', name or f'n{number}', op_type, str(100 + number), '',
                    (gradient('y:0', 1.0),))


def tape(nodes: int, *edges: tuple[int, int | None, float], **more) -> Tape:
    """Steps 0 to `nodes` - 1, and gradients from one to another or out of the tape."""
    made = tuple(TapeEdge(str(source), '' if target is None else str(target), i, gradient(f't{i}:0', value))
                 for i, (source, target, value) in enumerate(edges))
    return Tape(3, 1, 'Session.run', tuple(node(i) for i in range(nodes)), made, ('0',), **more)


def picture(one: Tape) -> Element:
    return parsed(tape_html(one)).one('svg', 'pf-tape')


def test_every_step_and_leaf_is_a_box_and_every_gradient_a_line():
    svg = picture(tape(3, (0, 1, 1.0), (0, 2, 2.0), (1, 2, 0.5), (2, None, 3e-7), (2, None, np.nan)))
    assert [text.text for text in svg.all('text', 'pf-name')] == ['n0', 'n1', 'n2', 't3:0', 't4:0']
    assert len(svg.all('rect', 'pf-leaf')) + len(svg.all('rect', 'pf-box-bad')) == 2
    lines = [group.one('title').text.split('\n') for group in svg.all('g') if group.all('path', 'pf-wide-line')]
    assert sorted(line[0] for line in lines) == [f'gradient of t{i}:0' for i in range(5)]


def test_a_line_says_its_values_and_what_check_found():
    one = tape(2, (0, 1, -2.5), checks=(EdgeMark('0', 0, 'BAD', 0.5, 2.0, 1.0),))
    group = next(group for group in picture(one).all('g') if group.all('path'))
    assert group.one('title').text.split('\n') == [
        'gradient of t0:0', 'float64 [1]', 'largest magnitude 2.5, 10^0.40', 'min -2.5, max -2.5, mean -2.5, std 0',
        'check: BAD got 2, expected 1']
    assert '2.5e+00  BAD' in [text.text for text in picture(one).all('text', 'pf-on-edge')]


def test_a_gradient_that_is_not_finite_is_told_by_a_word_and_a_broken_line():
    svg = picture(tape(2, (0, 1, np.nan), (1, None, 1.0)))
    drawn = [path.attributes['class'] for path in svg.all('path') if 'pf-wide-line' not in path.classes]
    assert drawn == ['pf-nan', 'pf-flow']
    assert [text.text for text in svg.all('text', 'pf-nan-text')] == ['NaN']
    rules = parsed(tape(1)._repr_mimebundle_()['text/html']).one('style').text
    assert re.search(r'path\.pf-nan\{[^}]*stroke-dasharray', rules)


def test_thicker_is_larger():
    svg = picture(tape(3, (0, 1, 1e-8), (1, 2, 1e2)))
    small, large = (float(svg.one('path', kind).attributes['stroke-width'] or 0) for kind in ('pf-odd', 'pf-flow'))
    assert small < large


def test_a_chain_stands_in_one_column_and_leaves_beside_it():
    places = places_of(tape(4, (0, 1, 1.0), (0, None, 1.0), (1, 2, 1.0), (2, 3, 1.0), (3, None, 1.0)))
    steps = [(box.row, box.column) for box in places.boxes if box.node is not None]
    assert steps == [(0, 0), (1, 0), (2, 0), (3, 0)]
    assert [(box.row, box.column) for box in places.boxes if box.node is None] == [(4, 0), (1, 1)]


def test_a_step_is_below_all_that_it_comes_from():
    places = places_of(tape(4, (0, 1, 1.0), (1, 2, 1.0), (2, 3, 1.0), (0, 3, 1.0)))
    assert {box.node.number: box.row for box in places.boxes if box.node is not None} == {'0': 0, '1': 1, '2': 2, '3': 3}
    assert len(places.edges) == 4


edges_of = st.lists(st.tuples(st.integers(0, 9), st.one_of(st.none(), st.integers(0, 9)),
                              st.sampled_from([1.0, 0.0, np.inf])), max_size=25)


@settings(max_examples=150, deadline=None)
@given(edges_of)
def test_no_two_boxes_are_in_one_place_whatever_a_trace_says(edges):
    places = places_of(tape(10, *edges))
    at = [(box.row, box.column) for box in places.boxes]
    assert len(set(at)) == len(at)
    assert sum(box.node is not None for box in places.boxes) == 10
    assert all(end.row > start.row for _, start, end in places.edges)
    kept = [edge for edge in edges if edge[1] is None or edge[0] < edge[1]]
    assert len(places.edges) == len(kept)


def test_a_long_tape_is_bounded_and_says_so():
    count = STEPS * 3
    one = tape(count, *((i, i + 1, 1.0) for i in range(count - 1)), *((i, None, 1.0) for i in range(count)))
    html = tape_html(one)
    tree = parsed(html)
    assert len(tree.one('svg', 'pf-tape').all('text', 'pf-name')) <= STEPS + LEAVES
    assert f'... {count - STEPS:,} further steps not drawn' in tree.text
    assert len(html) < 600_000


def test_the_same_tree_is_there_as_text():
    tree = parsed(tape_html(tape(2, (0, 1, 1.0), (1, None, 2.0))))
    text = tree.one('details').text
    assert re.search(r'--1\.0e\+00--> n1 Mul', text)
    assert re.search(r'--2\.0e\+00--> t1:0  \(leaf\)', text)
    assert tree.one('svg', 'pf-tape').attributes['aria-label'] == 'gradient tape of run #3, 2 steps; the same as text below'


@pytest.mark.parametrize('name', ['<script>alert(1)</script>', '"><b>', 'a\nb\x1b[31m', '</title></svg><i>', '\u202e'])
def test_a_name_in_a_tape_is_text(name):
    one = tape(2, (0, 1, 1.0), (1, None, np.nan))
    evil = replace(one, source=name, nodes=tuple(replace(n, name=name, op_type=name, function=name) for n in one.nodes),
                   edges=tuple(replace(e, gradient=replace(e.gradient, name=name)) for e in one.edges))
    tree = parsed(tape_html(evil))
    assert {element.name for element in tree.all()} <= {
        'div', 'span', 'pre', 'svg', 'g', 'title', 'path', 'rect', 'text', 'details', 'summary', 'table', 'thead',
        'tbody', 'tr', 'th', 'td'}
    assert not re.search('[\x1b\u202e]', tree.text)

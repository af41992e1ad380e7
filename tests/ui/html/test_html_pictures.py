"""Heat maps, curves and histograms in SVG: what is in a cell, what it says on hover, how much of it there is."""
from __future__ import annotations

import math
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings, strategies as st
from hypothesis.extra import numpy as hnp
from parsed_html import Element, parsed
from written_trace import tensor, trace_of

from pyfuncdbg.observers.record.records import Stats
from pyfuncdbg.observers.record.snapshots.statistics import stats_of
from pyfuncdbg.ui.commands.engine.command import Context
from pyfuncdbg.ui.commands.execute import execute
from pyfuncdbg.ui.html.curve import POINTS, curve_html
from pyfuncdbg.ui.html.heatmap import COLUMNS, ROWS, heatmap_html
from pyfuncdbg.ui.html.picture import SLICES, call_pictures, load_pictures, picture_html
from pyfuncdbg.ui.html.tensors import histogram_html
from pyfuncdbg.ui.ipython.displays import answer_bundle
from pyfuncdbg.ui.views.sample_trace import sample


def titles(tree: Element) -> list[str]:
    return [title.text for title in tree.one('svg', 'pf-map').all('title')]


def test_every_element_of_a_small_matrix_is_a_cell_that_says_its_value():
    array = np.array([[0.5, -2.0, 3.25], [1e-7, 5.0, 6.0]])
    tree = parsed(heatmap_html(array))
    assert titles(tree) == [f'[{i}, {j}] = {array[i, j]:.6g}' for i in range(2) for j in range(3)]
    assert len(tree.one('svg', 'pf-map').all('rect')) == 6


def test_nan_and_infinity_have_a_letter_a_cross_and_a_word_not_only_a_colour():
    array = np.zeros((3, 40))
    array[1, 2], array[2, 30] = np.nan, -np.inf
    tree = parsed(heatmap_html(array))
    bad = [group for group in tree.all('g') if group.all('rect', 'pf-bad')]
    assert [(one.one('title').text, one.one('text').text, len(one.all('path', 'pf-cross'))) for one in bad] == [
        ('[1, 2] = nan', 'N', 1), ('[2, 30] = -inf', '∞', 1)]
    assert [span.text.strip() for span in tree.all('span', 'pf-red')] == ['N NaN 1', '∞ infinity 1']


def test_a_large_matrix_is_blocks_that_say_their_mean_and_what_is_bad():
    array = np.arange(400.0 * 640).reshape(400, 640)
    array[0, 0] = np.nan
    tree = parsed(heatmap_html(array))
    found = titles(tree)
    assert len(found) == ROWS * COLUMNS
    assert found[0] == f'[0:10, 0:10] mean {np.nanmean(array[:10, :10]):.6g}, 1 of 100 not finite'
    assert found[-1] == f'[390:400, 630:640] mean {array[390:, 630:].mean():.6g}'
    assert 'each cell the mean of 10 x 10 elements' in tree.text


def test_the_least_and_the_greatest_have_the_ends_of_the_scale():
    tree = parsed(heatmap_html(np.array([[1.0, 2.0], [3.0, 9.0]])))
    fills = [rect.attributes['fill'] for rect in tree.one('svg', 'pf-map').all('rect')]
    assert (fills[0], fills[-1]) == ('#440154', '#fde725')
    assert len(set(fills)) == 4


@pytest.mark.parametrize('array', [np.zeros((0, 3)), np.full((2, 3), np.nan), np.full((3, 2), 7.0),
                                   np.array([[True, False]]), np.array([[1 + 1j, 2]]), np.array([[2**62, -2**62]]),
                                   np.array([[1e308, -1e308]])])
def test_odd_matrices_are_drawn(array):
    tree = parsed(heatmap_html(array))
    assert len(tree.all('title')) == array.size
    assert 'nan' not in ''.join(str(rect.attributes) for rect in tree.all('rect'))


def test_a_number_in_a_cell_can_be_read_on_its_colour():
    tree = parsed(heatmap_html(np.linspace(-3, 3, 60).reshape(12, 5)))
    colours = [rect.attributes['fill'] or '' for rect in tree.one('svg', 'pf-map').all('rect')]
    inks = [text.attributes['fill'] or '' for text in tree.all('text', 'pf-number')]
    assert len(inks) == len(colours) == 60
    assert min(contrast(*pair) for pair in zip(inks, colours, strict=True)) > 4.5


def contrast(one: str, other: str) -> float:
    def light(colour: str) -> float:
        parts = [int(colour[i:i + 2], 16) / 255 for i in (1, 3, 5)]
        linear = [part / 12.92 if part <= 0.03928 else ((part + 0.055) / 1.055) ** 2.4 for part in parts]
        return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]
    low, high = sorted((light(one), light(other)))
    return (high + 0.05) / (low + 0.05)


def test_a_curve_says_every_value():
    array = np.array([1.0, 4.0, -2.5, 0.0])
    assert titles(parsed(curve_html(array))) == ['[0] = 1', '[1] = 4', '[2] = -2.5', '[3] = 0']


def test_a_curve_is_broken_and_lettered_where_an_element_is_bad():
    array = np.sin(np.arange(40.0))
    array[10], array[20] = np.nan, np.inf
    tree = parsed(curve_html(array))
    assert len(tree.all('path', 'pf-curve')) == 3
    assert [text.text for text in tree.all('text', 'pf-mark')] == ['N', '∞']
    assert titles(tree)[10] == '[10] = nan'
    assert titles(tree)[20] == '[20] = inf'


def test_a_long_curve_shows_least_and_greatest_of_each_column():
    array = np.zeros(POINTS * 4)
    array[4 * 7 + 1], array[4 * 7 + 2] = 5.0, -3.0
    found = titles(parsed(curve_html(array)))
    assert len(found) == POINTS
    assert found[7] == '[28:32] -3 .. 5'
    assert found[8] == '[32:36] 0 .. 0'


def test_slices_beside_the_one_with_a_nan_can_be_chosen():
    array = np.zeros((2, 30, 4, 9))
    array[1, 20, 2, 5] = np.nan
    tree = parsed(picture_html(array, (1, 20, 2, 5)))
    names = [label.text for label in tree.all('label')]
    assert names == [f'[1, {i}, :, :]' for i in range(16, 16 + SLICES)]
    shown = [label.text for label in tree.all('label') if 'checked' in label.one('input').attributes]
    assert shown == ['[1, 20, :, :]']
    bad = [i for i, section in enumerate(tree.all('section')) if section.all('rect', 'pf-bad')]
    assert bad == [4]
    assert '[2, 5] = nan' in [title.text for title in tree.all('section')[4].all('title')]


def test_a_picture_of_two_axes_has_nothing_to_choose():
    tree = parsed(picture_html(np.ones((1, 8, 8))))
    assert not tree.all('form')
    assert len(tree.all('title')) == 64


def test_a_histogram_says_range_and_count_of_each_bin():
    stats = stats_of(np.array([0.0, 0.0, 0.0, 1.0, 10.0]))
    assert stats is not None
    tree = parsed(histogram_html(stats))
    counts = [bar.elements for bar in stats.bars() if bar.elements]
    said = [title.text for title in tree.all('title')]
    assert [int(text.rpartition(': ')[2]) for text in said] == counts == [3, 1, 1]
    assert [text.partition(':')[0] for text in said] == ['0', '1 .. 2', '8 .. 10']
    heights = [float(rect.attributes['height'] or 0) for rect in tree.all('rect')]
    assert heights[0] == pytest.approx(3 * heights[1], rel=0.05)
    assert histogram_html(Stats(3, nan=3)) == ''


@settings(max_examples=60, deadline=None)
@given(hnp.arrays(st.sampled_from([np.float64, np.float32, np.complex64, np.int64, np.bool_]),
                  hnp.array_shapes(min_dims=1, max_dims=3, max_side=9), elements=None))
def test_any_array_has_a_picture_with_numbers_that_svg_can_read(array):
    tree = parsed(picture_html(array))
    for one in tree.all():
        for name in ('x', 'y', 'width', 'height', 'cx', 'cy'):
            if name in one.attributes:
                assert math.isfinite(float(one.attributes[name] or ''))
        assert 'nan' not in (one.attributes.get('d') or '')


def test_a_call_has_a_picture_of_each_tensor_and_those_with_nan_are_open():
    bad = np.zeros((8, 8))
    bad[1, 1] = np.nan
    call = replace(sample().call(3), inputs=(tensor('x:0', np.eye(8)), tensor('few:0', np.ones(3))),
                   outputs=(tensor('y:0', bad), replace(tensor('lost:0', np.ones((8, 8))), level='stats', key=None)))
    tree = parsed(call_pictures(load_pictures(call)))
    assert [(one.one('summary').text, 'open' in one.attributes) for one in tree.all('details')] == [
        ('picture of in 0 x x:0', False), ('picture of out 0 y:0', True)]
    assert len(tree.all('rect', 'pf-bad')) == 1
    card = parsed(answer_bundle(execute('call 3', Context(trace_of([call], []))))['text/html'])
    said = parsed(answer_bundle(execute('out 3', Context(trace_of([call], []))))['text/html'])
    assert len(card.all('details')) == 2
    assert not said.all('details')

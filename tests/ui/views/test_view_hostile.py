"""Every view, drawn from the worst data that fits its arguments: no failure, no line too wide, nothing that acts."""
from __future__ import annotations

import importlib
import inspect
import io
import re
import typing
from pathlib import Path

import hostile
import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings, strategies as st
from rich.cells import cell_len
from rich.console import Console

import pyfuncdbg.ui.views
from pyfuncdbg.observers.debug.cards.stop_card import StopCard
from pyfuncdbg.observers.debug.inspecting.tensor_differences import difference
from pyfuncdbg.observers.debug.replay.replay_verdict import Replay, ReplayedCall
from pyfuncdbg.ui.views.escape import label
from pyfuncdbg.ui.views.page import Page
from pyfuncdbg.ui.views.pictures.picture import has_picture
from pyfuncdbg.ui.views.tensors.tensor_difference import TensorChange

STYLES = re.compile(r'\x1b\[[\d;]*m')
LINKS = re.compile(r'\x1b\]8;[^\x1b]*\x1b\\')
BLINKS = re.compile(r'\x1b\[(?:1;|2;)*5[;m]')
ELSEWHERE = ('verify_view',)
"""What takes an object of the commands: no annotation tells what it holds."""
FOLDER = Path(pyfuncdbg.ui.views.__file__).parent


@st.composite
def changes(draw):
    """What `pt --diff` compares: often of another shape or dtype."""
    before = draw(st.sampled_from(hostile.ARRAYS))
    after = draw(st.sampled_from(hostile.ARRAYS)) if draw(st.booleans()) else before.copy()
    if after.size and after.dtype.kind in 'fc':
        after = after.copy()
        after.flat[0] = draw(st.sampled_from([0, np.nan, np.inf]))
    name = draw(st.sampled_from(hostile.TEXTS))
    return TensorChange(name, name, difference(name, before, after), after, before)


SPECIAL = {
    TensorChange: changes(),
    (Replay, 'error'): st.none(),
    (Replay, 'executions'): st.lists(hostile.of(ReplayedCall, 2), min_size=1, max_size=2).map(tuple),
    ('curve', 'array'): st.sampled_from([array.ravel() for array in hostile.ARRAYS if has_picture(array)]),
    ('picture', 'array'): st.sampled_from([array for array in hostile.ARRAYS if has_picture(array)]),
    ('swap_view', 'again'): st.sampled_from(['run', 'call', '']),
    (StopCard, 'values_are'): st.sampled_from(['changed', 'outputs', 'inputs', 'locals']),
    ('preview', 'precision'): st.integers(1, 17), ('element_table', 'precision'): st.integers(1, 17),
    ('variables_table', 'indent'): st.integers(0, 4),
    ('run_end_view', 'tensors'): st.none(), ('curve', 'height'): st.integers(1, 20),
    ('beside_view', 'notes'): st.dictionaries(
        st.integers(0, 3), st.lists(st.sampled_from(hostile.TEXTS).map(label), max_size=3)),
    ('change_view', 'limit'): st.integers(1, 20), ('live_counts_view', 'rows'): st.integers(1, 20),
}
"""Arguments that other code of ours makes, and that no trace has a say in."""


def views():
    """Every public function of the views that gives a page."""
    for path in sorted(FOLDER.rglob('*.py')):
        module = importlib.import_module('.'.join(['pyfuncdbg.ui.views', *path.relative_to(FOLDER).with_suffix('').parts]))
        for name, function in vars(module).items():
            if inspect.isfunction(function) and function.__module__ == module.__name__ and not name.startswith('_') and (
                    typing.get_type_hints(function).get('return') is Page) and name not in ELSEWHERE:
                yield pytest.param(function, id=f'{path.stem}.{name}')


class ASCIIFile(io.StringIO):
    """A stream that can encode ASCII only."""

    encoding = 'ascii'


@pytest.mark.parametrize('view', [*views()])
@settings(max_examples=10, deadline=None, suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large,
                                                                 HealthCheck.filter_too_much])
@given(data=st.data(), width=st.sampled_from([20, 21, 40, 79, 80, 110, 160, 400]),
       console=st.sampled_from(['plain', 'colour', 'ascii', 'sixteen']))
def test_nothing_gets_through(view, data, width, console):
    page = view(**data.draw(hostile.arguments(view, SPECIAL)))
    file = ASCIIFile() if console == 'ascii' else io.StringIO()
    system = {'plain': None, 'colour': 'truecolor', 'ascii': None, 'sixteen': 'standard'}[console]
    Console(width=width, file=file, force_terminal=system is not None, color_system=system, legacy_windows=False,
            _environ={}).print(page)
    text = file.getvalue()
    assert not BLINKS.search(text)              # no markup was read
    plain = STYLES.sub('', LINKS.sub('', text))
    wrong = [c for c in plain if c != '\n' and not c.isprintable()]
    assert not wrong
    plain.encode('utf-8')
    too_wide = [line for line in plain.splitlines() if cell_len(line) > width]
    assert not too_wide

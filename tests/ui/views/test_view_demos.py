"""Every module of the views ends in a demo that runs, and at 40 columns its tables are still read in lines."""
from __future__ import annotations

import contextlib
import io
import re
import runpy
from pathlib import Path

import pytest
import record_sample
from rich.console import Console, RenderableType

import pyfuncdbg.ui.views
from pyfuncdbg.ui.views.sample_trace import PATH

FOLDER = Path(pyfuncdbg.ui.views.__file__).parent
TABLES = ('calls.calls', 'calls.rewind_report', 'calls.threads', 'graph.node', 'graph.node_list', 'numerics.check',
          'numerics.health', 'numerics.tape', 'reports.breakpoints', 'reports.doctor', 'reports.profile',
          'reports.live_counts',
          'reports.report', 'reports.source_files', 'reports.traces', 'reports.verify',
          'tensors.tensor_difference', 'tensors.tensors')
WITHOUT = {'__init__', 'page', 'sample_trace', 'units'}


@pytest.mark.filterwarnings('ignore:.*found in sys.modules:RuntimeWarning')
@pytest.mark.parametrize('name', sorted('.'.join(path.relative_to(FOLDER).with_suffix('').parts)
                                        for path in FOLDER.rglob('*.py') if path.stem not in WITHOUT))
def test_demo(name):
    with contextlib.redirect_stdout(io.StringIO()) as out:
        runpy.run_module(f'pyfuncdbg.ui.views.{name}', run_name='__main__')
    assert out.getvalue().strip()


@pytest.mark.filterwarnings('ignore:.*found in sys.modules:RuntimeWarning')
@pytest.mark.parametrize('name', TABLES)
def test_at_40_columns_no_column_is_a_letter_wide(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """A column that is squeezed shows its words from top to bottom, a letter or two a line."""
    shown: list[RenderableType] = []
    monkeypatch.setattr('pyfuncdbg.ui.views.sample_trace.demo', lambda *views: shown.extend(views))
    runpy.run_module(f'pyfuncdbg.ui.views.{name}', run_name='__main__')
    console = Console(width=40, file=io.StringIO(), _environ={})
    for view in shown:
        console.print(view)
    lines = [line.rstrip() for line in console.file.getvalue().splitlines()]
    assert shown and max(map(len, lines)) <= 40
    for three in zip(lines, lines[1:], lines[2:], strict=False):
        assert not all(re.fullmatch(r'\s*[a-z]{1,2}', line) for line in three), lines


def test_the_sample_trace_is_what_its_script_writes(tmp_path):
    """After a change of the format: python tests/ui/views/record_sample.py."""
    record_sample.write(tmp_path / 'anew.pfd')
    saved = {path.name: path.read_bytes() for path in Path(PATH).iterdir()}
    assert saved == {path.name: path.read_bytes() for path in (tmp_path / 'anew.pfd').iterdir()}

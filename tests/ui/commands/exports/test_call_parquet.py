"""Calls as Parquet, read by pyarrow and pandas."""
from __future__ import annotations

import sys
from pathlib import Path

import pytest

from pyfuncdbg.errors import CommandError
from pyfuncdbg.ui.commands.engine.command import Context
from pyfuncdbg.ui.commands.execute import execute
from pyfuncdbg.ui.commands.exports import call_parquet
from pyfuncdbg.ui.views.sample_trace import sample

pandas = pytest.importorskip('pandas')
parquet = pytest.importorskip('pyarrow.parquet')


def test_a_row_for_each_call_with_the_statistics_of_its_tensors(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(call_parquet, '_ROWS', 2)
    answer = execute(f'export parquet -o {tmp_path}/calls.parquet', Context(sample()))
    assert answer.result.calls == 5
    file = parquet.ParquetFile(tmp_path / 'calls.parquet')
    assert (file.num_row_groups, file.metadata.num_rows) == (3, 5)
    rows = file.read().to_pylist()
    calls = sample().calls()
    assert [(row['call'], row['started'], row['seconds'], row['site']) for row in rows] == [
        (call.number, call.started, call.duration, call.site.name) for call in calls]
    assert [row['status'] for row in rows] == ['ok', 'ok', 'nan', 'nan', 'error']
    assert (rows[4]['error_type'], rows[0]['error_type']) == ('AttributeError', None)
    out, = rows[2]['outputs']
    assert (out['dtype'], out['shape'], out['nan'], out['pos_inf']) == ('float32', [3, 4], 4, 0)
    assert rows[2]['inputs'][0]['max'] == calls[2].inputs[0].stats.max and rows[2]['printed'] == 'row 1 constant\n'
    frame = pandas.read_parquet(tmp_path / 'calls.parquet')
    assert frame.groupby('site')['seconds'].count().to_dict() == {'norm': 3, 'scale': 2}


def test_without_pyarrow_one_line_says_what_to_install(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, 'pyarrow', None)
    with pytest.raises(CommandError, match=r"export parquet needs pyarrow: pip install 'pyfuncdbg\[parquet\]'"):
        execute(f'export parquet -o {tmp_path}/calls.parquet', Context(sample()))
    assert not list(tmp_path.iterdir())

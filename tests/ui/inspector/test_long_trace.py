"""A long trace in the inspector: its first calls are shown while the rest is read, and never as if they were all."""
from __future__ import annotations

from pathlib import Path
from unittest.mock import patch

import numpy as np
import pytest
from inspecting import drive, inspector, opened, screen, settled, type_line
from written_trace import write_trace

from pyfuncdbg.observers.record.log.columns import MOST_ROWS
from pyfuncdbg.observers.record.records import CallRecord, ErrorRecord, SiteRecord
from pyfuncdbg.observers.record.trace import Trace
from pyfuncdbg.ui.inspector.desks import saved_trace
from pyfuncdbg.ui.inspector.desks.desk import Event
from pyfuncdbg.ui.inspector.desks.saved_trace import SavedDesk
from pyfuncdbg.ui.inspector.panes.calls import CallList
from pyfuncdbg.ui.inspector.panes.scene import Scene
from pyfuncdbg.ui.inspector.screen.bars import header

CALLS = 6 * MOST_ROWS


@pytest.fixture(scope='module')
def trace(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Six records of calls, in two logs; one of the last calls raised."""
    path = tmp_path_factory.mktemp('long') / 'long.pfd'
    sites = [SiteRecord(1, process, 'step', 'EagerPyFunc', 'python', 'pyfuncdbg', 'step', 'model.py', 7, '', (), (), ())
             for process in (1, 2)]
    write_trace(path, [CallRecord(str(number + 1) if process == 1 else f'2.{number + 1}', process, 0, sites[process - 1],
                                  number, 1, number / 1e3, 1e-4, (), (), (),
                                  ErrorRecord('ValueError', 'no', (), '') if number == CALLS - 2 else None)
                       for number in range(CALLS) for process in [1 + number // (CALLS // 2)]])
    return path


def test_a_trace_is_read_in_parts(trace: Path) -> None:
    with Trace.open(trace) as whole, Trace.open(trace, patience=0) as part:
        expected, counts, shares = [call.number for call in whole.calls()], [], []
        assert whole.share_read == 1.0
        while part.share_read < 1:
            counts.append(part.count())
            shares.append(part.share_read)
            assert part.refresh(patience=0)
        assert set(counts) == set(range(0, CALLS + 1, MOST_ROWS)) and shares == sorted(shares) and shares[0] > 0
        assert [call.number for call in part.calls()] == expected and part.info().complete and len(expected) == CALLS
        assert not part.refresh(patience=0)


def test_a_command_answers_on_the_whole_trace(trace: Path) -> None:
    desk = SavedDesk(trace, patience=0)
    try:
        assert desk.share_read < 1 and desk.trace.count() < CALLS
        assert 'READING ' in header(desk, Scene(), None, 120).plain
        assert desk.answer('calls --failed', 80).data['total'] == 1
        assert desk.share_read == 1 and 'READING' not in header(desk, Scene(), None, 120).plain
    finally:
        desk.close()


def test_the_inspector_goes_on_to_the_whole_trace(trace: Path) -> None:
    async def test() -> None:
        with patch.multiple(saved_trace, _PART=0.0):
            async with opened(SavedDesk(trace, patience=0), (160, 40)) as pilot:
                calls = inspector(pilot).query_one(CallList)
                while calls.count < CALLS:      # ends by the time of the test
                    await settled(pilot)
                shown = screen(pilot).split('\n')
                assert 'READING' not in shown[0] and f'call #2.{CALLS - 1} step[{CALLS - 2}]' in shown[0]
                assert 'no call 2.99999' in await type_line(pilot, 'call 2.99999')
    drive(test)


def test_what_is_read_is_told(trace: Path) -> None:
    with patch.multiple(saved_trace, _PART=0.0, _PAUSE=0.0):
        desk, told = SavedDesk(trace, patience=0), list[tuple[str, float]]()

        def hear(event: Event) -> None:
            told.append((event.kind, desk.share_read))
            if event.kind == 'grown' and desk.share_read == 1:
                desk.close()
        try:
            desk.listen(hear)
            assert desk._closed.wait(60)
        finally:
            desk.close()
    kinds = [kind for kind, _ in told]
    assert kinds.count('reading') > 2 < kinds.count('grown') and told[-1] == ('grown', 1.0)
    assert np.all(np.diff([share for _, share in told]) >= 0)

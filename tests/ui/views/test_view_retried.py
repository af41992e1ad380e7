"""The answer of `retry`: what is made again."""
from __future__ import annotations

import pytest

from pyfuncdbg.ui.views.calls.rewind_report import retry_view


@pytest.mark.parametrize(('took', 'said'), [(12.34, '; it took 12.3 s'), (0.9, ''), (None, '')])
def test_who_makes_a_long_call_again_is_told_how_long(draw, took: float | None, said: str) -> None:
    assert draw(retry_view('norm', None, took=took), 100).rstrip() == (
        f"'norm' once more: its effects outside (files, prints) happen again{said}")

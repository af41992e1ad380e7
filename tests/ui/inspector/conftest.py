"""Traces of real recordings, made once."""
from __future__ import annotations

from pathlib import Path

import pytest
from growing_texts import no_style_is_inherited
from inspected_program import PROGRAM
from inspecting import record

__all__ = ['no_style_is_inherited', 'trace']


@pytest.fixture(scope='session')
def trace(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Three runs with gradients; in the third `norm` divides by zero, and `best` raises for it."""
    return record(PROGRAM, tmp_path_factory.mktemp('trace'))

"""A shell of IPython for each test that asks for one."""
from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from ipython_shell import Shell, fresh_shell

from pyfuncdbg.observers.record.recorder import recorders


@pytest.fixture
def shell(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Shell]:
    """With the extension loaded, in a folder of its own; when it has gone nothing records any more."""
    monkeypatch.chdir(tmp_path)
    with fresh_shell() as shell:
        yield shell
    assert recorders() == ()

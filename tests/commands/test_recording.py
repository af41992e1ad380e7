"""What `run` reads before it records: sizes, and where a trace goes."""
from __future__ import annotations

from pathlib import Path

import pytest

from pyfuncdbg.commands.recording import free_path, size
from pyfuncdbg.errors import UsageError


@pytest.mark.parametrize(('text', 'nbytes'), [
    ('4096', 4096), ('4096B', 4096), ('64k', 65_536), ('64KiB', 65_536), ('256MB', 256 << 20), ('1.5 GiB', 3 << 29),
    (' 2tb ', 2 << 40),
])
def test_size(text: str, nbytes: int) -> None:
    assert size(text) == nbytes


@pytest.mark.parametrize('text', ['', 'MB', '0', '0.2', '-1MB', '1XB', '1e6', 'nan', '1,5MB', '٣MB', '256MBs'])
def test_no_size(text: str) -> None:
    with pytest.raises(UsageError) as raised:
        size(text)
    assert str(raised.value).startswith(repr(text))


def test_a_path_that_is_free(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    assert free_path('a') == Path('a.pfd')
    (tmp_path / 'a.pfd').mkdir()
    (tmp_path / 'a-2.pfd').symlink_to('nowhere')
    assert free_path('a') == Path('a-3.pfd')

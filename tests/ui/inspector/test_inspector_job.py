"""`pyfuncdbg open` as a job of a shell, in a real terminal: suspended and brought back; what is chosen is kept; pictures."""
from __future__ import annotations

import os
import signal
import subprocess
import time
from collections.abc import Iterator
from pathlib import Path

import pytest
from inspected_program import PROGRAM
from inspecting import drive, inspector, opened, press, record, settled, until
from tmux_pane import Pane, needs_tmux, processes

pytestmark = [needs_tmux, pytest.mark.timeout(120)]
OPEN = '-m pyfuncdbg open prog.pfd'


@pytest.fixture
def pane(tmp_path: Path) -> Iterator[Pane]:
    record(PROGRAM, tmp_path)
    with Pane(tmp_path) as shell:
        yield shell


def modes(pane: Pane) -> str:
    return subprocess.run(['stty', '-a', '-F', pane.device], capture_output=True, text=True, check=True, timeout=30).stdout


def leave(pane: Pane) -> None:
    pane.tmux('send-keys', 'q')
    end = time.monotonic() + 60
    while pane.flags()['alternate_on'] == '1' or not pane.screen.endswith(('$', '#')):
        assert time.monotonic() < end, pane.screen


def test_ctrl_z_gives_the_terminal_to_the_shell_and_fg_the_screen_back(pane: Pane) -> None:
    flags = pane.flags()
    pane.type('stty -a > before')
    pane.python(OPEN)
    pane.until('[2 source]', 'is the first call that')
    on = pane.flags()
    assert on != flags and on['alternate_on'] == '1'
    for keys in ('6', '4'):                     # twice: it must come back for good
        pane.tmux('send-keys', 'C-z')
        pane.until('topped')                    # of the shell's line about its job
        assert pane.flags() == flags
        pane.type('clear; stty -a > during; cmp before during; echo $((40 + 2))')
        assert 'differ' not in pane.until('42')
        pane.type('clear; fg')
        pane.until('calls', 'q quit')
        assert pane.flags() == on
        pane.tmux('send-keys', keys)
        pane.until(f'[{keys} ')
    leave(pane)
    pane.type('clear; stty -a > after; cmp before after; echo $((50 + 3))')
    assert 'differ' not in pane.until('53') and pane.flags() == flags


def test_a_suspended_job_that_is_killed_leaves_the_shells_terminal_alone(pane: Pane) -> None:
    pane.python(OPEN)
    pane.until('is the first call that')
    pane.tmux('send-keys', 'C-z')
    pane.until('topped')
    pane.type('stty -echo; echo $((40 + 2))')   # modes that nobody may put back
    pane.until('42')
    before = modes(pane)
    (job,) = processes('open\0prog.pfd', f'XDG_STATE_HOME={pane.folder}')
    os.kill(job, signal.SIGKILL)
    pane.type('wait; echo $((50 + 3))')
    pane.until('53')
    while processes('watchdog', pane.device.rpartition('/dev/')[2]):
        pass
    assert modes(pane) == before and ' -echo ' in before


def test_theme_and_panes_are_those_of_the_last_session_and_the_users_lines_stay(pane: Pane) -> None:
    file = pane.folder / 'config' / 'pyfuncdbg' / 'config.toml'
    pane.python(OPEN)
    pane.until('is the first call that')
    leave(pane)
    pane.type('clear; echo $((40 + 2))')
    pane.until('42')
    assert not file.exists()                    # nothing was chosen
    file.parent.mkdir(parents=True)
    file.write_text('# mine\npane = "tape" # for now\nthem = "nord"\n')
    pane.python(OPEN)
    pane.until('[5 tape]')
    pane.tmux('send-keys', '6', 'F2')
    pane.until('[6 calls]')
    leave(pane)
    pane.until(f"pyfuncdbg: {file}: no setting 'them'", "Did you mean 'theme'?", scrolled=True)
    pane.type('clear; echo $((50 + 3))')
    pane.until('53')
    assert file.read_text() == '# mine\npane = "calls" # for now\nthem = "nord"\ntheme = "textual-light"\n'
    pane.python(OPEN)
    pane.until('[6 calls]')
    leave(pane)


def test_a_screenshot_goes_to_the_current_folder_and_says_where(pane: Pane) -> None:
    pane.python(OPEN)
    pane.until('is the first call that')
    pane.tmux('send-keys', 'C-p')
    pane.until('Search')
    pane.tmux('send-keys', '-l', 'screenshot')
    end = time.monotonic() + 60
    while 'list recorded calls' in pane.until('Screenshot'):
        assert time.monotonic() < end, pane.screen
    pane.tmux('send-keys', 'Enter')
    pane.until('screenshot saved to')
    (picture,) = pane.folder.glob('pyfuncdbg-*.svg')
    assert str(picture) in ''.join(pane.screen.split()) and '<svg' in picture.read_text()
    leave(pane)


def test_a_screenshot_that_cannot_be_saved_says_why_and_none_is_written_over(trace, tmp_path, monkeypatch) -> None:
    monkeypatch.chdir(tmp_path)

    async def test() -> None:
        async with opened(trace, (160, 50)) as pilot:
            for _ in range(2):
                inspector(pilot).deliver_screenshot('shot.svg')
            await until(pilot, f'screenshot saved to {tmp_path}/shot-2.svg')
            assert (tmp_path / 'shot.svg').read_text().startswith('<svg')
            inspector(pilot).deliver_screenshot('shot.svg', path='no/such')
            await until(pilot, f'no screenshot: {tmp_path}/no/such/shot.svg: No such file or directory')
            await press(pilot, 'ctrl+z')        # of a test, which no shell would bring back
            await until(pilot, 'not a job that a shell could resume')
            await settled(pilot)
    drive(test)

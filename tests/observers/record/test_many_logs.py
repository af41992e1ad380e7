"""Traces with more logs than a process may have open files, and manifests that are links or pipes."""
from __future__ import annotations

import json
import os
import resource
import shutil
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from plain_host import wrapped

from pyfuncdbg.errors import TraceError
from pyfuncdbg.observers.record.recorder import Recorder
from pyfuncdbg.observers.record.trace import Trace

LOGS = 300
SPARE = 40
"""Descriptors that opening a trace may take beyond those of its process."""


@pytest.fixture
def sound(tmp_path: Path) -> Path:
    path = tmp_path / 't.pfd'
    with Recorder(path):
        wrapped(lambda x: [x * 2])(np.arange(5_000.0))
    return path


@pytest.fixture
def many(sound: Path) -> Path:
    (log,) = sound.glob('*.log')
    for process in range(2, LOGS + 1):
        shutil.copy(log, sound / f'{process}-{process:04d}.log')
    return sound


def open_files() -> int:
    return len(os.listdir('/proc/self/fd'))


def test_every_log_is_read_and_few_stay_open(many: Path) -> None:
    before = open_files()
    with Trace.open(many) as trace:
        assert open_files() - before <= 70
        info = trace.info()
        assert (len(info.processes), info.calls, info.damage) == (LOGS, LOGS, ())
        for process in (1, 2, LOGS // 2, LOGS):
            (call,) = trace.calls(process=process)
            assert call.outputs[0].to_numpy()[-1] == 9_998
        assert not trace.refresh()
    assert open_files() == before


def test_a_command_on_it_within_a_low_limit(many: Path) -> None:
    def limit() -> None:
        resource.setrlimit(resource.RLIMIT_NOFILE, (64 + SPARE, 64 + SPARE))
    done = subprocess.run([sys.executable, '-m', 'pyfuncdbg', 'show', str(many), 'calls', '--json'], capture_output=True,
                          text=True, preexec_fn=limit, timeout=60)
    assert (done.returncode, done.stderr) == (0, '')
    assert json.loads(done.stdout)['total'] == LOGS


def test_a_log_that_is_opened_again_is_the_same_file(many: Path, tmp_path: Path) -> None:
    last = many / f'{LOGS}-{LOGS:04d}.log'
    with Trace.open(many) as trace:
        shutil.copy(last, tmp_path / 'copy')
        os.replace(tmp_path / 'copy', last)
        with pytest.raises(TraceError, match='replaced'):
            trace.calls(process=LOGS)
        assert trace.calls(process=1)[0].outputs[0].shape == (5_000,)


@pytest.mark.parametrize('kind', ['link', 'pipe', 'folder', 'device', 'nothing'])
def test_a_manifest_is_a_regular_file(kind: str, sound: Path, tmp_path: Path) -> None:
    manifest = sound / 'manifest.json'
    manifest.rename(tmp_path / 'manifest.json')
    make = {'link': lambda: manifest.symlink_to(tmp_path / 'manifest.json'), 'pipe': lambda: os.mkfifo(manifest),
            'folder': manifest.mkdir, 'device': lambda: manifest.symlink_to('/dev/zero'),
            'nothing': lambda: manifest.symlink_to(tmp_path / 'nowhere')}
    make[kind]()
    with pytest.raises(TraceError, match=r'manifest\.json: cannot be read: not a regular file'):
        Trace.open(sound)


@pytest.mark.parametrize('version', ['0', '-1', '9' * 4000, '1e400', 'NaN'])
def test_a_version_is_a_small_number(version: str, sound: Path) -> None:
    manifest = sound / 'manifest.json'
    found = json.loads(manifest.read_text())
    manifest.write_text(json.dumps({**found, 'version': 'here'}).replace('"here"', version))
    with pytest.raises(TraceError, match=r'manifest\.json: damaged') as raised:
        Trace.open(sound)
    assert len(str(raised.value)) < 300 + len(str(sound))

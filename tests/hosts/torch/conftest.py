"""PyTorch, imported once for all tests that need it, and programs that are recorded in a process of their own."""
from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from seen_calls import Seen
from torch_programs import PROGRAMS, Record, Recorded, run_command

import pyfuncdbg
from pyfuncdbg.hooks.chain import hooks
from pyfuncdbg.observers.record.trace import Trace


@pytest.fixture(scope='session')
def torch() -> Any:
    """PyTorch; only tests marked `torch` ask for it."""
    import torch
    return torch


@pytest.fixture(scope='session')
def op_modes(torch: Any) -> None:
    """Skips tests of `--ops` where PyTorch has no modes that leave its compiler alone: 2.7."""
    from torch.utils._python_dispatch import TorchDispatchMode
    if not hasattr(TorchDispatchMode, 'ignore_compile_internals'):
        pytest.skip('ops of this version of PyTorch are not seen')


@pytest.fixture
def seen(torch: Any) -> Iterator[Seen]:
    """Attached, with a hook that keeps what it sees."""
    hook = Seen()
    with pyfuncdbg.attach('torch'):
        hooks.add(hook)
        try:
            yield hook
        finally:
            hooks.remove(hook)


@pytest.fixture
def record(tmp_path: Path) -> Record:
    """Records a program of `programs`, or one given as text."""
    return recorder_in(tmp_path)


@pytest.fixture(scope='session')
def recorded_program(tmp_path_factory: pytest.TempPathFactory) -> Record:
    """Records a program of `programs` once for all tests that only read the trace: to import PyTorch takes seconds."""
    recordings: dict[tuple[str, ...], Recorded] = {}

    def recorded(program: str, *options: str) -> Recorded:
        key = program, *options
        if key not in recordings:
            recordings[key] = recorder_in(tmp_path_factory.mktemp('recorded'))(program, *options)
        return recordings[key]
    return recorded


def recorder_in(place: Path) -> Record:
    """A function that records in a folder."""
    def recorded(program: str, *options: str, args: tuple[str, ...] = ()) -> Recorded:
        path = PROGRAMS / program
        if '\n' in program:
            path = place / 'program.py'
            path.write_text(program)
        folder = place / 'recorded.pfd'
        done = run_command('run', '--record', str(folder), *options, str(path), *args, cwd=place)
        assert done.returncode == 0, done.stdout + done.stderr
        return Recorded(done.stdout, done.stderr, Trace.open(folder), folder)
    return recorded

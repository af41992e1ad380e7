"""`pyfuncdbg verify`: comparison of a program's results while it is watched and while not, and the cost of watching.

Runs the program again and again in child processes, on the caller's thread. Each gets what the first one read from stdin;
a terminal is not read.
"""
from __future__ import annotations

import contextlib
import json
import os
import re
import shutil
import statistics
import subprocess
import sys
import tempfile
import threading
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Literal

import numpy as np

from pyfuncdbg.ui.commands.programs import output_by_thread
from pyfuncdbg.ui.commands.programs.last_bits import text_distance, tolerance
from pyfuncdbg.ui.commands.programs.output_by_thread import STREAMS, StreamText
from pyfuncdbg.ui.commands.programs.result_list import Comparison, HostResult, difference
from pyfuncdbg.ui.commands.programs.verify_probe import FUSES_OPS, LEVELS

_BOOT = ('import sys; sys.argv[0] = "pyfuncdbg"; sys.path.append(sys.argv.pop(1)); '
         'from pyfuncdbg.ui.commands.programs.verify_probe import main; main()')
_LOGGED = re.compile(rb'^([IWEF])\d{4} \d\d:\d\d:\d+\.\d+ +\d+ ')
_NATIVE = re.compile(rb'^[IWEF] [\w.]+:\d+\] .*\n?(?:\t \[\[.*\n?)*', re.MULTILINE)
_DEBUG = re.compile(rb'(?: |goo\.gle/debug\w+)+')
_OURS = b'pyfuncdbg: '
_PACKAGE = Path(__file__).resolve().parents[3]
_FRAME = re.compile(rb'^( *)File "(?:%b/|pyfuncdbg/|<plan of )[^"]+", line \d+, in .*\n(?:\1  .*\n)*' % re.escape(
    bytes(_PACKAGE)), re.MULTILINE)

_LOOK = 0.25
"""Seconds between two progress reports of a run."""
_STEPPED = ('ops', 'debugger')
"""Levels at which a framework computes op by op what it else runs in one go."""
_RUN = 'Session.run'

Answer = Literal['equal', 'near', 'different', 'nondeterministic', 'nothing compared']
Holding = Literal['bit for bit', 'to the last bits', 'no', 'not known']
"""Extent to which a claim holds."""


@dataclass(frozen=True, slots=True)
class RunDifference:
    """The first thing that is not as in the plain run.

    Attributes:
        level: How much was watched; 'plain' for two plain runs.
        what: 'results', 'stdout', 'stderr', 'exit code', 'exception'.
        where: Which result, element or line.
        plain, watched: What it was without and with.
        distance: Where only the last bits differ, the largest difference at this level as a share of the largest element of
            its tensor; else None.
    """

    level: str
    what: str
    where: str
    plain: str
    watched: str
    distance: float | None = None


@dataclass(frozen=True, slots=True)
class LevelCost:
    """The time of one level, as medians over the repetitions: seconds, and against the plain program."""

    level: str
    seconds: float
    ratio: float


@dataclass(frozen=True, slots=True)
class Verification:
    """The findings of `verify`.

    Attributes:
        answer: 'near' where only the last bits differ, and only where TensorFlow computes node by node; 'nothing compared'
            where the program gave no tensor.
        recorded: Whether a program whose calls are recorded gives the same results.
        stepped: Whether it does where its nodes are computed one by one: with `--ops`, and with breakpoints on nodes.
        results: How many results of runs, functions and wrapped calls were compared, bit for bit.
        values: How many tensors were in them.
        stdout, stderr: Bytes that were compared.
        differences: The first of each level that has one.
        costs: By level; () where the program was not equal, and where nothing is repeated.
        repeats: Repetitions behind each time.
    """

    command: tuple[str, ...]
    answer: Answer
    recorded: Holding
    stepped: Holding
    results: int
    values: int
    stdout: int
    stderr: int
    exit_code: int
    exception: str
    differences: tuple[RunDifference, ...]
    costs: tuple[LevelCost, ...]
    repeats: int


@dataclass(frozen=True, slots=True)
class _Outcome:
    """One run of the program."""

    code: int
    stdout: bytes
    stderr: bytes
    raised: str
    seconds: float
    results: list[HostResult]
    values: bytes
    fuses_ops: bool
    said: Mapping[str, StreamText]


def verify(target: Sequence[str], repeats: int = 3, tell: Callable[[int, int], None] | None = None) -> Verification:
    """Run a program with and without being watched.

    Args:
        target: As on the command line: SCRIPT or '-m' MODULE, and its arguments.
        repeats: Of each level, for the times; 0 measures none.
        tell: Takes how many runs of the program are over, and of how many, before each of them.
    """
    program_input = ProgramInput(1 + len(LEVELS) * (1 + repeats), tell)
    plain = _run(target, 'plain', program_input, noted=True)
    repeat_difference = _first_difference('plain', plain, _run(target, 'plain', program_input, noted=True))
    levels = LEVELS[1:] if repeat_difference is None else ()
    found = [repeat_difference, *(_at_level(level, plain, _run(target, level, program_input, noted=True))
                                  for level in levels)]
    differences = [one for one in found if one is not None]
    values = sum(len(one.values) for one in plain.results)
    answer: Answer = 'nondeterministic' if repeat_difference is not None else 'different' if any(
        one.distance is None for one in differences) else 'nothing compared' if not values else (
        'near' if differences else 'equal')
    recorded, stepped = _claims(answer, differences)
    costs = _costs(target, repeats, program_input) if repeats and answer in ('equal', 'near') else ()
    return Verification(tuple(target), answer, recorded, stepped, len(plain.results), values, len(plain.stdout),
                        len(plain.stderr), plain.code, plain.raised, tuple(differences), costs, repeats)


def _claims(answer: Answer, differences: Sequence[RunDifference]) -> tuple[Holding, Holding]:
    """The degree of equality when calls are recorded, and when nodes are computed one by one."""
    if answer in ('nondeterministic', 'nothing compared'):
        return 'not known', 'not known'
    def holding(stepped: bool) -> Holding:
        of_claim = [one.distance for one in differences if (one.level in _STEPPED) == stepped]
        return 'no' if None in of_claim else 'to the last bits' if of_claim else 'bit for bit'
    return holding(False), holding(True)


def _costs(target: Sequence[str], repeats: int, program_input: ProgramInput) -> tuple[LevelCost, ...]:
    """Times in turn, so that all levels see the same noise."""
    times: dict[str, list[float]] = {level: [] for level in LEVELS}
    for _ in range(repeats):
        for level in LEVELS:
            times[level].append(_run(target, level, program_input, noted=False).seconds)
    medians = {level: statistics.median(found) for level, found in times.items()}
    return tuple(LevelCost(level, medians[level], medians[level] / max(medians['plain'], 1e-9)) for level in LEVELS)


def _run(target: Sequence[str], level: str, program_input: ProgramInput, *, noted: bool) -> _Outcome:
    place = Path(tempfile.mkdtemp(prefix='pyfuncdbg-verify-'))
    try:
        (place / 'task.json').write_text(json.dumps({'target': list(target), 'level': level, 'noted': noted}))
        environment = {'PYTHONHASHSEED': '0', **os.environ}
        root = str(_PACKAGE.parent)
        with (place / 'stdout').open('wb') as stdout, (place / 'stderr').open('wb') as stderr, program_input.source(
                place) as stdin, subprocess.Popen([sys.executable, '-c', _BOOT, root, str(place)], stdin=stdin,
                                                  stdout=stdout, stderr=stderr, env=environment, bufsize=0) as child:
            program_input.feed(child)
            try:
                code = program_input.wait(child)
            except BaseException:                   # Ctrl-C ends the program too
                child.kill()
                raise
        end_record = _read_end(place)
        values = place / 'values.bin'
        streams = {name: (place / name).read_bytes() for name in STREAMS}
        return _Outcome(code, streams['stdout'], _without_ours(streams['stderr']), end_record.get('raised', ''),
                        end_record.get('seconds', 0.0), _results(place / 'results.jsonl'),
                        values.read_bytes() if values.exists() else b'', (place / FUSES_OPS).exists(),
                        output_by_thread.read_streams(place, streams))
    finally:
        shutil.rmtree(place, ignore_errors=True)


class ProgramInput:
    """The program's stdin: passed through to the first run, replayed byte for byte to later ones.

    Nothing is read that no run asks for, but for what fits into a pipe: an endless stdin blocks no run.

    Args:
        runs: How many there will be at most.
        tell: Takes how many are over, and `runs`.
    """

    def __init__(self, runs: int, tell: Callable[[int, int], None] | None = None) -> None:
        self._runs, self._over, self._tell = runs, 0, tell
        self._seen: list[bytes] = []
        self._bytes: bytes | None = None
        try:
            self._none = os.isatty(0) or os.fstat(0) is None
        except OSError:                                 # closed
            self._none = True

    def wait(self, child: subprocess.Popen[bytes]) -> int:
        """The exit code of a run, when it is over; meanwhile it reports how many were over before."""
        while self._tell is not None:
            self._tell(self._over, self._runs)
            try:
                child.wait(_LOOK)
                break
            except subprocess.TimeoutExpired:
                continue
        self._over += 1
        return child.wait()

    @contextlib.contextmanager
    def source(self, place: Path) -> Iterator[Any]:
        """For `Popen`: what the next run has as stdin."""
        if self._none:
            yield subprocess.DEVNULL
        elif self._bytes is None:
            yield subprocess.PIPE
            self._bytes = b''.join(self._seen)
        else:
            (place / 'stdin').write_bytes(self._bytes)
            with (place / 'stdin').open('rb') as again:
                yield again

    def feed(self, child: subprocess.Popen[bytes]) -> None:
        """Begin to pass the input on to the first run."""
        if child.stdin is not None:
            threading.Thread(target=self._pass_on, args=(child.stdin, self._seen), daemon=True).start()

    @staticmethod
    def _pass_on(stdin: Any, data: list[bytes]) -> None:
        with contextlib.suppress(OSError, ValueError):  # the program does not read any more, or has ended
            while chunk := os.read(0, 1 << 16):
                data.append(chunk)
                stdin.write(chunk)
        with contextlib.suppress(OSError):
            stdin.close()


def _read_end(place: Path) -> dict[str, Any]:
    try:
        fields: dict[str, Any] = json.loads((place / 'ended.json').read_text())
    except (OSError, ValueError):                   # killed, or left by os._exit
        return {}
    return fields


def _results(path: Path) -> list[HostResult]:
    results = []
    if path.exists():
        for line in path.read_text().splitlines():
            try:
                thread, element, what, names, values = json.loads(line)
            except ValueError:                      # the last line of a process that was killed
                break
            results.append(HostResult(thread, element, what, names, values))
    return results


def _without_ours(text: bytes) -> bytes:
    """Without our lines, and without time and thread in those that TensorFlow's C++ logs, and without what protobuf puts at
    random into messages that are printed there, a word and spaces, to keep programs from parsing them."""
    return b''.join(_DEBUG.sub(b' ', _LOGGED.sub(rb'\1 ', line)) if _LOGGED.match(line) else line
                    for line in text.splitlines(keepends=True) if not line.startswith(_OURS))


def _without_frames(text: bytes) -> bytes:
    """Tracebacks without the frames of this package, which are what a framework's own are: a run that is watched passes by
    other lines of it."""
    return _FRAME.sub(b'', text)


# ---------------------------------------------------------------- comparing
def _at_level(level: str, plain: _Outcome, watched: _Outcome) -> RunDifference | None:
    """The first difference at a level; where TensorFlow computes node by node, one in the last bits is reported as such."""
    difference = _first_difference(level, plain, watched)
    if difference is None or level not in _STEPPED or not plain.fuses_ops:
        return difference
    near = _Near(level, plain, watched)
    far = _first_difference(level, plain, watched, near)
    return replace(difference, distance=near.largest) if far is None else far


class _Near:
    """Equality at a level at which TensorFlow computes node by node.

    With `--ops` a `Session.run` is left to TensorFlow as it is: its results are the same bit for bit then too.
    """

    def __init__(self, level: str, plain: _Outcome, watched: _Outcome) -> None:
        def stepped(result: HostResult) -> bool:
            return level == 'debugger' or result.what != _RUN
        self.results = Comparison(plain.values, watched.values, stepped)
        self._texts = level == 'debugger' or any(stepped(result) for result in plain.results)
        self._largest = 0.0

    @property
    def largest(self) -> float:
        """The largest distance of what was taken for the same."""
        return max(self.results.largest, self._largest)

    def same_text(self, text: bytes, other: bytes) -> bool:
        """Whether two texts are the same but for the last digits of numbers, and for what TensorFlow's C++ logs of how it
        computes, as its optimizer does where it runs a graph in one go."""
        if not self._texts:
            return False
        gap = text_distance(*(_NATIVE.sub(b'', each).decode('utf-8', 'backslashreplace') for each in (text, other)))
        if gap > tolerance(np.dtype(np.float32)):
            return False
        self._largest = max(self._largest, gap)
        return True


def _first_difference(level: str, plain: _Outcome, watched: _Outcome, near: _Near | None = None) -> RunDifference | None:
    comparison = near.results if near is not None else Comparison(plain.values, watched.values)
    found = difference(plain.results, watched.results, comparison)
    if found is not None:
        return RunDifference(level, 'results', *found)
    for what, one, other in (('exit code', str(plain.code), str(watched.code)), ('exception', plain.raised, watched.raised)):
        if one != other:
            return RunDifference(level, what, '', one or 'none', other or 'none')
    same = near.same_text if near is not None else lambda one, other: False
    for what, *texts, cleaned in (('stdout', plain.stdout, watched.stdout, _without_frames),
                                  ('stderr', plain.stderr, watched.stderr, _of_stderr)):
        said = plain.said.get(what), watched.said.get(what)
        apart = output_by_thread.difference((texts[0], texts[1]), said, cleaned, same)
        if apart is not None:
            return RunDifference(level, what, *apart)
    return None


def _of_stderr(text: bytes) -> bytes:
    return _without_frames(_without_ours(text))

"""`pyfuncdbg verify`: does a program do exactly the same while it is watched, and what does watching cost.

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
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

from pyfuncdbg.commands.probe import LEVELS
from pyfuncdbg.commands.result_list import Result, difference

_BOOT = ('import sys; sys.argv[0] = "pyfuncdbg"; sys.path.append(sys.argv.pop(1)); '
         'from pyfuncdbg.commands.probe import main; main()')
_LOGGED = re.compile(rb'^([IWEF])\d{4} \d\d:\d\d:\d+\.\d+ +\d+ ')
_OURS = b'pyfuncdbg: '
_PACKAGE = Path(__file__).resolve().parents[1]
_FRAME = re.compile(rb'^( *)File "(?:%b/|pyfuncdbg/|<plan of )[^"]+", line \d+, in .*\n(?:\1  .*\n)*' % re.escape(
    bytes(_PACKAGE)), re.MULTILINE)

Answer = Literal['equal', 'different', 'nondeterministic']


@dataclass(frozen=True, slots=True)
class Difference:
    """The first thing that is not as in the plain run.

    Attributes:
        level: How much was watched; 'plain' for two plain runs.
        what: 'results', 'stdout', 'stderr', 'exit code', 'exception'.
        where: Which result, element or line.
        plain, watched: What it was without and with.
    """

    level: str
    what: str
    where: str
    plain: str
    watched: str


@dataclass(frozen=True, slots=True)
class Cost:
    """The time of one level, as medians over the repetitions: seconds, and against the plain program."""

    level: str
    seconds: float
    ratio: float


@dataclass(frozen=True, slots=True)
class Verification:
    """What was found.

    Attributes:
        results: How many results of runs, functions and wrapped calls were compared, bit for bit.
        values: How many tensors were in them.
        stdout, stderr: Bytes that were compared.
        differences: The first of each level that has one.
        costs: By level; () where the program was not equal.
        repeats: Repetitions behind each time.
    """

    command: tuple[str, ...]
    answer: Answer
    results: int
    values: int
    stdout: int
    stderr: int
    exit_code: int
    exception: str
    differences: tuple[Difference, ...]
    costs: tuple[Cost, ...]
    repeats: int


@dataclass(frozen=True, slots=True)
class _Outcome:
    """One run of the program."""

    code: int
    stdout: bytes
    stderr: bytes
    raised: str
    seconds: float
    results: list[Result]
    values: bytes


def verify(target: Sequence[str], repeats: int = 3) -> Verification:
    """Run a program with and without being watched.

    Args:
        target: As on the command line: SCRIPT or '-m' MODULE, and its arguments.
        repeats: Of each level, for the times.
    """
    given = Given()
    plain = _run(target, 'plain', given, noted=True)
    again = _first_difference('plain', plain, _run(target, 'plain', given, noted=True))
    differences = [] if again is None else [again]
    if again is None:
        for level in LEVELS[1:]:
            found = _first_difference(level, plain, _run(target, level, given, noted=True))
            differences += [] if found is None else [found]
    answer: Answer = 'nondeterministic' if again is not None else 'different' if differences else 'equal'
    costs = _costs(target, repeats, given) if answer == 'equal' else ()
    return Verification(tuple(target), answer, len(plain.results), sum(len(one.values) for one in plain.results),
                        len(plain.stdout), len(plain.stderr), plain.code, plain.raised, tuple(differences), costs, repeats)


def _costs(target: Sequence[str], repeats: int, given: Given) -> tuple[Cost, ...]:
    """Times in turn, so that all levels see the same noise."""
    times: dict[str, list[float]] = {level: [] for level in LEVELS}
    for _ in range(repeats):
        for level in LEVELS:
            times[level].append(_run(target, level, given, noted=False).seconds)
    medians = {level: statistics.median(found) for level, found in times.items()}
    return tuple(Cost(level, medians[level], medians[level] / max(medians['plain'], 1e-9)) for level in LEVELS)


def _run(target: Sequence[str], level: str, given: Given, *, noted: bool) -> _Outcome:
    place = Path(tempfile.mkdtemp(prefix='pyfuncdbg-verify-'))
    try:
        (place / 'task.json').write_text(json.dumps({'target': list(target), 'level': level, 'noted': noted}))
        environment = {'PYTHONHASHSEED': '0', **os.environ}
        root = str(_PACKAGE.parent)
        with (place / 'stdout').open('wb') as stdout, (place / 'stderr').open('wb') as stderr, given.source(
                place) as stdin, subprocess.Popen([sys.executable, '-c', _BOOT, root, str(place)], stdin=stdin,
                                                  stdout=stdout, stderr=stderr, env=environment, bufsize=0) as child:
            given.feed(child)
            try:
                code = child.wait()
            except BaseException:                   # Ctrl-C ends the program too
                child.kill()
                raise
        ended = _ended(place)
        values = place / 'values.bin'
        return _Outcome(code, (place / 'stdout').read_bytes(), _without_ours((place / 'stderr').read_bytes()),
                        ended.get('raised', ''), ended.get('seconds', 0.0), _results(place / 'results.jsonl'),
                        values.read_bytes() if values.exists() else b'')
    finally:
        shutil.rmtree(place, ignore_errors=True)


class Given:
    """What the program reads from stdin: the first run as it comes, each later one the same bytes.

    Nothing is read that nobody asks for, but for what fits into a pipe: a stdin that never ends holds nobody up.
    """

    def __init__(self) -> None:
        self._seen: list[bytes] = []
        self._bytes: bytes | None = None
        try:
            self._none = os.isatty(0) or os.fstat(0) is None
        except OSError:                                 # closed
            self._none = True

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
        """Begin to hand on to the first run what comes."""
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


def _ended(place: Path) -> dict[str, Any]:
    try:
        found: dict[str, Any] = json.loads((place / 'ended.json').read_text())
    except (OSError, ValueError):                   # killed, or left by os._exit
        return {}
    return found


def _results(path: Path) -> list[Result]:
    found = []
    if path.exists():
        for line in path.read_text().splitlines():
            try:
                thread, element, what, names, values = json.loads(line)
            except ValueError:                      # the last line of a process that was killed
                break
            found.append(Result(thread, element, what, names, values))
    return found


def _without_ours(text: bytes) -> bytes:
    """Without our lines, and without time and thread in those that TensorFlow's C++ logs."""
    return b''.join(_LOGGED.sub(rb'\1 ', line) for line in text.splitlines(keepends=True) if not line.startswith(_OURS))


def _without_frames(text: bytes) -> bytes:
    """Tracebacks without the frames of this package, which are what a framework's own are: a run that is watched passes by
    other lines of it."""
    return _FRAME.sub(b'', text)


# ---------------------------------------------------------------- comparing
def _first_difference(level: str, plain: _Outcome, watched: _Outcome) -> Difference | None:
    found = difference(plain.results, watched.results, plain.values, watched.values)
    if found is not None:
        return Difference(level, 'results', *found)
    for what, one, other in (('exit code', str(plain.code), str(watched.code)), ('exception', plain.raised, watched.raised)):
        if one != other:
            return Difference(level, what, '', one or 'none', other or 'none')
    for what, *texts in (('stdout', plain.stdout, watched.stdout), ('stderr', plain.stderr, watched.stderr)):
        text, other_text = map(_without_frames, texts)
        if text != other_text:
            lines, others = text.splitlines(), other_text.splitlines()
            pairs = zip(lines, others, strict=False)
            at = next((i for i, (a, b) in enumerate(pairs) if a != b), min(len(lines), len(others)))
            return Difference(level, what, f'line {at + 1}', _line(lines, at), _line(others, at))
    return None


def _line(lines: Sequence[bytes], at: int) -> str:
    return lines[at].decode('utf-8', 'backslashreplace') if at < len(lines) else '(no such line)'

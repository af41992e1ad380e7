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

import numpy as np

from pyfuncdbg.commands.probe import LEVELS
from pyfuncdbg.record.dtypes import dtype_of

_BOOT = 'import sys; sys.path.append(sys.argv.pop(1)); from pyfuncdbg.commands.probe import main; main()'
_LOGGED = re.compile(rb'^([IWEF])\d{4} \d\d:\d\d:\d+\.\d+ +\d+ ')
_OURS = b'pyfuncdbg: '

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
    """One run of the program. `results` are by thread: (what, names of fetches, values)."""

    code: int
    stdout: bytes
    stderr: bytes
    raised: str
    seconds: float
    results: dict[str, list[list[Any]]]
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
    listed = [values for lines in plain.results.values() for values in lines]
    return Verification(tuple(target), answer, len(listed), sum(len(line[2]) for line in listed), len(plain.stdout),
                        len(plain.stderr), plain.code, plain.raised, tuple(differences), costs, repeats)


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
        root = str(Path(__file__).resolve().parents[2])
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


def _results(path: Path) -> dict[str, list[list[Any]]]:
    found: dict[str, list[list[Any]]] = {}
    if path.exists():
        for line in path.read_text().splitlines():
            try:
                thread, what, names, values = json.loads(line)
            except ValueError:                      # the last line of a process that was killed
                break
            found.setdefault(thread, []).append([what, names, values])
    return found


def _without_ours(text: bytes) -> bytes:
    """Without our lines, and without time and thread in those that TensorFlow's C++ logs."""
    return b''.join(_LOGGED.sub(rb'\1 ', line) for line in text.splitlines(keepends=True) if not line.startswith(_OURS))


# ---------------------------------------------------------------- comparing
def _first_difference(level: str, plain: _Outcome, watched: _Outcome) -> Difference | None:
    found = _in_results(plain, watched)
    if found is not None:
        return Difference(level, 'results', *found)
    for what, one, other in (('exit code', str(plain.code), str(watched.code)), ('exception', plain.raised, watched.raised)):
        if one != other:
            return Difference(level, what, '', one or 'none', other or 'none')
    for what, text, other_text in (('stdout', plain.stdout, watched.stdout), ('stderr', plain.stderr, watched.stderr)):
        if text != other_text:
            lines, others = text.splitlines(), other_text.splitlines()
            pairs = zip(lines, others, strict=False)
            at = next((i for i, (a, b) in enumerate(pairs) if a != b), min(len(lines), len(others)))
            return Difference(level, what, f'line {at + 1}', _line(lines, at), _line(others, at))
    return None


def _line(lines: Sequence[bytes], at: int) -> str:
    return lines[at].decode('utf-8', 'backslashreplace') if at < len(lines) else '(no such line)'


def _in_results(plain: _Outcome, watched: _Outcome) -> tuple[str, str, str] | None:
    """Where, what it was, what it is."""
    for thread in {**plain.results, **watched.results}:
        lines, others = plain.results.get(thread, []), watched.results.get(thread, [])
        counts: dict[str, int] = {}
        for one, other in zip(lines, others, strict=False):
            what, names, values = one
            counts[what] = counts.get(what, 0) + 1
            where = f'{what} number {counts[what]}' + (f' on thread {thread}' if thread != 'MainThread' else '')
            if other[0] != what or len(other[2]) != len(values):
                return where, f'{what} with {len(values)} values', f'{other[0]} with {len(other[2])} values'
            for i, (a, b) in enumerate(zip(values, other[2], strict=True)):
                if a[:3] != b[:3]:
                    name = names[i] if i < len(names) and names[i] else f'value {i}'
                    element, before, after = _element(a, b, plain.values, watched.values)
                    return f'{where}, {name}{element}', before, after
        if len(lines) != len(others):
            return f'results on thread {thread}', f'{len(lines)} results', f'{len(others)} results'
    return None


def _element(one: Sequence[Any], other: Sequence[Any], values: bytes, others: bytes) -> tuple[str, str, str]:
    """The first element that differs, and the two."""
    if one[1:3] != other[1:3]:
        return '', f'{one[1]} {one[2]}', f'{other[1]} {other[2]}'
    if one[3] < 0 or other[3] < 0:
        return '', f'digest {one[0]}', f'digest {other[0]}'
    a, b = (_array(data, entry) for data, entry in ((values, one), (others, other)))
    step = a.dtype.itemsize
    bits = a.view(np.uint8).reshape(-1, step) != b.view(np.uint8).reshape(-1, step)
    at = int(np.flatnonzero(bits.any(axis=1))[0])
    index = [int(i) for i in np.unravel_index(at, tuple(one[2]))] if one[2] else []
    return f' element {index}', str(a[at]), str(b[at])


def _array(data: bytes, entry: Sequence[Any]) -> np.ndarray:
    dtype = dtype_of(entry[1]) if not entry[1].startswith(('str', 'bytes')) else np.dtype(np.uint8)
    count = int(np.prod(entry[2], dtype=np.int64))
    return np.frombuffer(data, dtype, count, entry[3])

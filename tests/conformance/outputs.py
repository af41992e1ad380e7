"""The programs and probes whose output is compared, and what TensorFlow printed for each.

A program is `programs/AREA/NAME.py` with TensorFlow's output beside it in `NAME.txt`; it begins with `import tensorflow as
tf, numpy as np`, or goes on where `_begin.py` of its area ends. The probes are lines of `probes.jsonl`, measured before this
project was written.
"""
from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path

HERE = Path(__file__).parent
PROGRAMS = HERE / 'programs'
PROBES = HERE / 'probes.jsonl'
IMPORTS = 'import tensorflow as tf, numpy as np'


@dataclass(frozen=True, slots=True)
class Output:
    """A program or probe: its name in the lists, the stem of its file, its text and the recorded lines (None: not yet)."""

    name: str
    stem: str
    code: str
    recorded: list[str] | None


def programs() -> list[Output]:
    return [program(path) for path in sorted(PROGRAMS.glob('*/[!_]*.py'))]


def program(path: Path) -> Output:
    record = path.with_suffix('.txt')
    recorded = record.read_text().splitlines() if record.exists() else None
    text, begin = path.read_text(), path.parent / '_begin.py'
    code = text if text.startswith(IMPORTS) or not begin.exists() else f'{begin.read_text()}\n\n{text}'
    return Output(f'{path.parent.name}/{path.stem}', path.stem, code, recorded)


def probes() -> list[Output]:
    rows = [json.loads(line) for line in PROBES.read_text().splitlines()]
    return [Output(row['id'], row['id'], row['code'], row['result'].splitlines()) for row in rows]

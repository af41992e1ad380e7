"""Where pyfuncdbg differs from TensorFlow on purpose: `differences.toml`, read, compared and written.

A difference of a program or probe is a group of lines that TensorFlow prints and a group that pyfuncdbg prints in their
place, with the reason; a difference of an expression of `snippets.py` is a reason alone.
"""
from __future__ import annotations

import difflib
import json
import tomllib
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from pathlib import Path

from lines import alike

PATH = Path(__file__).parent / 'differences.toml'
NOT_EXAMINED = 'not examined'
_OPENING = """\
# Where pyfuncdbg differs from TensorFlow on purpose, each with its reason; tests keep this file exact.
# `python tests/conformance/record.py --differences [NAME...]` writes the lines anew and keeps the reasons.
"""


@dataclass(frozen=True, slots=True)
class Difference:
    """Lines TensorFlow prints, those pyfuncdbg prints in their place, and why."""

    tensorflow: tuple[str, ...]
    pyfuncdbg: tuple[str, ...]
    reason: str = NOT_EXAMINED

    @property
    def lines(self) -> tuple[tuple[str, ...], tuple[str, ...]]:
        return self.tensorflow, self.pyfuncdbg


@dataclass(frozen=True, slots=True)
class Differences:
    """The whole file: by name of program (`area/name`) or probe, and by expression."""

    outputs: dict[str, list[Difference]]
    snippets: dict[str, str]


def between(tensorflow: list[str], pyfuncdbg: list[str]) -> list[Difference]:
    """The differences of two outputs, in order."""
    if tensorflow == pyfuncdbg:                    # lining up long outputs takes seconds
        return []
    found = []
    matcher = difflib.SequenceMatcher(None, tensorflow, pyfuncdbg, autojunk=False)
    for kind, i, to_i, j, to_j in matcher.get_opcodes():
        if kind != 'equal':
            found += list(_unlike(tensorflow[i:to_i], pyfuncdbg[j:to_j]))
    return found


def _unlike(ours: list[str], theirs: list[str]) -> Iterator[Difference]:
    if len(ours) != len(theirs):
        yield Difference(tuple(ours), tuple(theirs))
        return
    for a, b in zip(ours, theirs, strict=True):
        if not alike(a, b):
            yield Difference((a,), (b,))


def with_reasons(found: Iterable[Difference], known: Iterable[Difference]) -> list[Difference]:
    """The differences found, with the reasons that are known for the same lines, or for the same lines of TensorFlow."""
    exact = {difference.lines: difference.reason for difference in known}
    near = {difference.tensorflow: difference.reason for difference in known if difference.tensorflow}
    return [replace(difference, reason=exact.get(difference.lines, near.get(difference.tensorflow, NOT_EXAMINED)))
            for difference in found]


def read() -> Differences:
    content = tomllib.loads(PATH.read_text())
    outputs = {name: [Difference(tuple(entry.get('tensorflow', ())), tuple(entry.get('pyfuncdbg', ())), entry['reason'])
                      for entry in entries] for name, entries in content.get('output', {}).items()}
    return Differences(outputs, content.get('snippets', {}))


def write(differences: Differences) -> None:
    parts = [_OPENING, '[snippets]\n' + ''.join(f'{_quoted(code)} = {_quoted(reason)}\n'
                                                for code, reason in differences.snippets.items())]
    parts += [_entry(name, entry) for name in sorted(differences.outputs) for entry in differences.outputs[name]]
    PATH.write_text('\n'.join(parts))


def _entry(name: str, difference: Difference) -> str:
    rows = [f'[[output.{_quoted(name)}]]', f'reason = {_quoted(difference.reason)}']
    rows += [f'{side} = {_listed(lines)}' for side, lines in (('tensorflow', difference.tensorflow),
                                                              ('pyfuncdbg', difference.pyfuncdbg)) if lines]
    return '\n'.join(rows) + '\n'


def _listed(lines: tuple[str, ...]) -> str:
    if len(lines) == 1:
        return f'[{_quoted(lines[0])}]'
    return '[\n' + ''.join(f'    {_quoted(line)},\n' for line in lines) + ']'


def _quoted(text: str) -> str:
    """A basic string of TOML, which is one of JSON except for the delete character."""
    return json.dumps(text, ensure_ascii=False).replace('\x7f', '\\u007f')

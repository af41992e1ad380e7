"""What a program printed, as lines without what differs from run to run, by machine or by implementation file.

Addresses, thread ids, ports, times, paths and the frames of files other than the program's own go; `attr` blocks of a
printed NodeDef are put in order, because a map of protobuf has none.
"""
from __future__ import annotations

import os
import re

_UNSTABLE = [(re.compile(pattern), new) for pattern, new in [
    (r'0x[0-9a-fA-F]{4,}', '0xN'),
    (r'\bid=\d{6,}', 'id=N'),
    (r'pyfunc_\d+', 'pyfunc_N'),
    (r'(__(?:inference|forward|backward)_[^\s\'"\[\],;)}]*?)_\d+(?!\w)', r'\1_N'),
    (r'\b(Dummy|Thread)-\d+(?: \([^)]*\))?', r'\1-N'),
    (r'\b(config_proto|executor_type|ident|thread)(\W{1,3})\d{6,}', r'\1\2N'),
    (r'((?:localhost|127\.0\.0\.1|0\.0\.0\.0|port):? ?)\d{4,5}\b', r'\1N'),
    (r'\b\d+(?:\.\d+)? ?(?:seconds|secs|ms|us|µs)\b|\b\d+\.\d+ ?s\b', 'T s'),
    (r'goo\.gle/debug\w+\s*', ''),
    (r'(?:[\w.<>+-]*/)+(\w+\.py)\b', r'\1'),
    (r'(?:<path>|(?<![\w:/>])/(?:tmp|root|usr|home|work|opt|var))/[^\s\'",)\\]*', '<path>'),
    (r'(?<=\S) {2,}', ' '),
]]
_FRAME = re.compile(r'^(\s*)File "([^"]*)", line \d+(?:, in .*)?$')
_FRAME_IN_LIST = re.compile(r'\'\s*File "([^"]*)", line \d+, in [^\']*\'(?:, )?')
_NUMBER = re.compile(r'-?(?:\d+\.\d*|\.\d+|\d+)(?:[eE][-+]?\d+)?')


def normal(text: str, name: str, backend: str = 'tensorflow') -> list[str]:
    """The lines of what program `name` printed with `backend`; applied to its own result it changes nothing."""
    modules = re.compile(rf'\b(?:tensorflow|builtins|{re.escape(backend.split(".")[0])})(?:\.\w+)*\.(?=[A-Z]\w*)')
    lines: list[str] = []
    dropped: int | None = None
    for line in text.rstrip('\n').replace('\\n', '\n').split('\n'):     # also the lines of a message shown by repr
        frame = _FRAME.match(line)
        if frame:
            dropped = None if os.path.basename(frame[2]) == f'{name}.py' else len(frame[1])
        if dropped is not None and (frame or (len(line) - len(line.lstrip()) > dropped and line.strip())):
            continue                                 # a frame outside the program, its source line and marker
        dropped = None
        if not line.strip() or re.fullmatch(r'[\s^~]+', line):
            continue
        line = _FRAME_IN_LIST.sub(lambda found: found[0] if os.path.basename(found[1]) == f'{name}.py' else '', line)
        for pattern, new in _UNSTABLE:
            line = pattern.sub(new, line)
        line = modules.sub('', line)
        line = re.sub(r"\{('[^{}]*)\}", lambda found: _sorted_set(found[1]), line).rstrip()
        if line.strip():
            lines.append(line)
    return _sorted_attrs(lines)


def _sorted_set(elements: str) -> str:
    return '{' + ', '.join(sorted(re.split(r", (?=')", elements))) + '}'


def _sorted_attrs(lines: list[str]) -> list[str]:
    out: list[str] = []
    blocks: list[list[str]] = []
    at = 0
    while at < len(lines):
        line = lines[at]
        if line.strip() == 'attr {':
            closing = line[:len(line) - len(line.lstrip())] + '}'
            end = next((i for i in range(at, len(lines)) if lines[i] == closing), len(lines) - 1)
            blocks.append(lines[at:end + 1])
            at = end + 1
            continue
        out += [inner for block in sorted(blocks) for inner in block]
        blocks = []
        out.append(line)
        at += 1
    return out + [inner for block in sorted(blocks) for inner in block]


def alike(a: str, b: str, tolerance: float = 2e-5) -> bool:
    """Whether two lines say the same, where a number with a fraction may differ in its last digits."""
    a, b = (re.sub(r'(?<=\[) +| +(?=\])', '', line) for line in (a, b))       # columns of an array
    if a == b:
        return True
    if _NUMBER.sub('#', a) != _NUMBER.sub('#', b):
        return False
    pairs = zip(_NUMBER.findall(a), _NUMBER.findall(b), strict=True)
    return all(x == y or ((_has_fraction(x) or _has_fraction(y)) and
                          abs(float(x) - float(y)) <= tolerance * max(abs(float(x)), abs(float(y)), 0.1)) for x, y in pairs)


def _has_fraction(number: str) -> bool:
    return any(mark in number for mark in '.eE')

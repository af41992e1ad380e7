"""Device names such as '/job:worker/task:1/device:CPU:0': read, completed by an outer scope's, and written.

Everything runs on this machine's CPU; the names are kept because programs and tools look at them. No state.
"""
from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any

_FIELDS = ('job', 'replica', 'task', 'device')


def parsed(text: str) -> dict[str, str]:
    """The parts of a device name.

    Raises:
        ValueError: A part that is not one.
    """
    found: dict[str, str] = {}
    for part in text.strip().split('/'):
        key, _, value = part.partition(':')
        if not part:
            continue
        if key in ('job', 'replica', 'task'):
            found[key] = value
        elif key == 'device':
            found[key] = value if ':' in value else f'{value}:0'
        elif re.fullmatch(r'(?i:cpu|gpu|tpu)(:(\d+|\*))?', part):
            found['device'] = f'{key.upper()}:{value or 0}'
        else:
            raise ValueError(f"Unknown attribute '{key}' is encountered while parsing the device spec: '{text}'.")
    return found


def merged(outer: str, inner: str) -> str:
    """`inner`, with what it does not say taken from `outer`."""
    parts = {**parsed(outer), **parsed(inner)}
    return ''.join(f'/{field}:{parts[field]}' for field in _FIELDS if field in parts)


def chosen(stack: Sequence[Any], op: Any) -> str:
    """The device of a node: `stack` holds strings, functions of the op, and None where a scope clears those around it."""
    found = ''
    for entry in stack:
        named = (entry(op) or '') if callable(entry) else entry
        found = '' if named is None else merged(found, str(named))
    return found

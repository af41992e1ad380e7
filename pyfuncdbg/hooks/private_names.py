"""Private names as the compiler spells them in a class (`__x`). No state: any thread may ask."""
from __future__ import annotations


def mangle(name: str, owner: str) -> str:
    """A private name as it is spelled in the class `owner`."""
    stripped = owner.lstrip('_')
    if not stripped or not name.startswith('__') or name.endswith('__') or '.' in name:
        return name
    return f'_{stripped}{name}'

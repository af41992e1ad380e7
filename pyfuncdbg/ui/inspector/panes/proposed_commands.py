"""The card of a run: the commands that it proposes, the one that Enter types first. Pure."""
from __future__ import annotations

from typing import Any


def offers_of(data: Any) -> tuple[str, ...]:
    """The commands of a card from the plain data of `stop`; none of another answer. The first is what Enter
    types: `run`, if it is there."""
    if not isinstance(data, dict):
        return ()
    card = data['end'] if isinstance(data.get('end'), dict) else data
    listed = card.get('suggestions')
    commands = [str(one['command']) for one in listed if isinstance(one, dict) and one.get('command')] if isinstance(
        listed, list) else []
    return tuple(sorted(commands, key=lambda command: command != 'run'))

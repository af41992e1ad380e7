"""Type-ahead: decides whether letters outside of the command line are keys or the beginning of a word. Pure.

A letter is both: `n` steps, and begins `node`. It waits for the next one as long as a word takes to go on.
"""
from __future__ import annotations

from pyfuncdbg.ui.commands.table import TABLE

PATIENCE = 0.3
"""Seconds that a letter waits for the next one: longer than a person takes within a word, shorter than between two steps."""
CARD_PATIENCE = 0.7
"""The same at the card of a run: its commands are words, and nothing there is done in a hurry."""
AFTERTHOUGHT = 1.0
"""Seconds after a letter has acted in which Enter is still the one that pdb's users type behind it."""
_EAGER = frozenset('jk')
"""Letters that move the cursor: they act at once, and no harm is done where a word follows."""
_WORDS = frozenset(name for name in TABLE.names if len(name) > 1)
_IN_PYTHON = frozenset('.([=_')
"""What may follow a name in Python."""


def waits(letter: str, *, at_stop: bool) -> bool:
    """Whether a letter could begin a word; at a stop any could, of Python."""
    return letter not in _EAGER and letter.isalpha() and (at_stop or any(word.startswith(letter) for word in _WORDS))


def continues(text: str, char: str, *, at_stop: bool, waits: bool = True) -> bool:
    """Whether a character goes on with a letter as a word.

    Args:
        text: The letter.
        char: What was typed behind it.
        at_stop: Python may be meant.
        waits: The letter has not acted yet. Otherwise, and of the same letter twice, only a command's beginning is a word.
    """
    if not waits or text == char:
        return any(word.startswith(text + char) for word in _WORDS)
    return char.isalpha() or char == ' ' or (at_stop and char in _IN_PYTHON)

"""Topics of the manual: one Markdown page each, in `pyfuncdbg/ui/manual`.

`help` and the shell's completion ask here, on the caller's thread. The pages are read when they are asked for.
"""
from __future__ import annotations

from dataclasses import dataclass
from importlib.resources import files

TOPICS = ('stops', 'conditions', 'tensors', 'health', 'gradients', 'tensorflow', 'pytorch', 'jax', 'doctor', 'ipython',
          'traces', 'replay', 'audit', 'flight', 'processes', 'remote', 'limits', 'differences', 'costs', 'glossary',
          'security')
"""Names of the pages, in the order of the list."""


@dataclass(frozen=True, slots=True)
class Topic:
    """One page.

    Attributes:
        name: As typed behind `help`, and of the file.
        title: What it is about, in one line: the heading, behind the name.
        text: The page, in Markdown.
    """

    name: str
    title: str
    text: str


def read_topic(name: str) -> Topic:
    """The page of that name, one of `TOPICS`."""
    text = (files('pyfuncdbg.ui.manual') / f'{name}.md').read_text(encoding='utf-8')
    return Topic(name, text.partition('\n')[0].partition(': ')[2], text)

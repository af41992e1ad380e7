"""Frames that JAX leaves out of its messages: ours, and those outside of the program."""
from __future__ import annotations

from pathlib import Path

from pyfuncdbg.hooks import call_frames, own_files
from pyfuncdbg.hosts.jax.jax_parts import JaxParts

_OWN = f'{Path(call_frames.__file__).parents[1]}/'
_RUNNER = '<frozen runpy>'
"""Python's own code that runs `python -m pyfuncdbg`."""


def hide_own_frames(parts: JaxParts) -> None:
    """Have JAX leave our frames out. It has no way back, and needs none: a program has no such frames."""
    paths = (_OWN, _RUNNER) if own_files.RUNNERS else (_OWN,)
    for module in parts.source_lines, parts.tracebacks:
        for path in paths:
            if path not in module._exclude_paths:
                module.register_exclusion(path)

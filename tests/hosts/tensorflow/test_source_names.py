"""Names of what a tape was asked for: looking for them runs nothing of the program's."""
from __future__ import annotations

import sys
from typing import Any

from pyfuncdbg.hosts.tensorflow.tapes.gradient_sources import _global_name


class Lazy:
    """A proxy that makes what it stands for as soon as somebody asks for its class."""

    asked = 0

    @property
    def __class__(self) -> Any:
        Lazy.asked += 1
        raise RuntimeError('too early')


class Model:
    def __init__(self) -> None:
        self.w = object()


proxy, model = Lazy(), Model()


def test_a_proxy_among_the_globals_is_left_alone() -> None:
    before = Lazy.asked                         # pytest has looked at it too
    assert _global_name(model.w, sys._getframe()) == 'model.w'
    assert _global_name(object(), sys._getframe()) == ''
    assert Lazy.asked == before

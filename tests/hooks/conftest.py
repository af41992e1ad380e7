"""A running capture, a hook that keeps calls, and a check that no test leaves a hook behind."""
from __future__ import annotations

from collections.abc import Iterator

import pytest
from wrapped_calls import Keeper

from pyfuncdbg.hooks.capture import Capture
from pyfuncdbg.hooks.chain import hooks


@pytest.fixture
def keeper() -> Iterator[Keeper]:
    keeper = Keeper()
    hooks.add(keeper)
    yield keeper
    hooks.remove(keeper)


@pytest.fixture
def capture() -> Iterator[Capture]:
    capture = Capture()
    capture.start()
    yield capture
    capture.stop()


@pytest.fixture(autouse=True)
def nothing_left() -> Iterator[None]:
    yield
    left = [hook for _, hook in hooks._all]
    for hook in left:
        hooks.remove(hook)
    assert not left

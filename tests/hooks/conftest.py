"""A running capture, a hook that keeps calls, and a check that no test leaves a hook behind."""
from __future__ import annotations

import importlib.util
import warnings
from collections.abc import Iterator
from typing import Any

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


@pytest.fixture
def plain_warnings() -> Iterator[None]:
    """Warnings shown by the standard library, as outside of pytest, which always replaces that."""
    spec = importlib.util.find_spec('warnings')
    assert spec is not None and spec.loader is not None
    fresh = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(fresh)
    module: Any = warnings
    with warnings.catch_warnings():
        warnings.simplefilter('always')
        module.showwarning = module._showwarning_orig
        module._showwarnmsg_impl = fresh._showwarnmsg_impl
        yield

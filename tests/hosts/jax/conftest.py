"""The real JAX, imported once for all tests that need it."""
from __future__ import annotations

import os
from collections.abc import Iterator
from typing import Any

import pytest
from seen_calls import Seen

import pyfuncdbg
from pyfuncdbg.hooks.chain import hooks

os.environ.setdefault('JAX_PLATFORMS', 'cpu')


@pytest.fixture(scope='session')
def jax() -> Any:
    """The real JAX; only tests marked `jax` ask for it."""
    import jax
    return jax


@pytest.fixture
def seen(jax: Any) -> Iterator[Seen]:
    """Attached, with a hook that keeps what it sees."""
    hook = Seen()
    with pyfuncdbg.attach('jax'):
        hooks.add(hook)
        try:
            yield hook
        finally:
            hooks.remove(hook)

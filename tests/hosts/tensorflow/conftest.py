"""The real TensorFlow, imported once for all tests that need it."""
from __future__ import annotations

import os
from collections.abc import Iterator
from typing import Any

import pytest
from seen_calls import Seen

import pyfuncdbg
from pyfuncdbg.hooks.chain import hooks
from pyfuncdbg.hosts.interception.patching import Patches

os.environ.setdefault('TF_CPP_MIN_LOG_LEVEL', '3')


@pytest.fixture(scope='session')
def tf() -> Any:
    """The real TensorFlow; only tests marked `tensorflow` ask for it."""
    import tensorflow
    return tensorflow


@pytest.fixture
def seen(tf: Any) -> Iterator[Seen]:
    """Attached, with a hook that keeps what it sees."""
    hook = Seen()
    with pyfuncdbg.attach('tensorflow'):
        hooks.add(hook)
        try:
            yield hook
        finally:
            hooks.remove(hook)


@pytest.fixture
def replaced(monkeypatch: pytest.MonkeyPatch) -> dict[tuple[Any, str], Any]:
    """Each attribute that is replaced during the test, by its owner and name, as it was before."""
    before: dict[tuple[Any, str], Any] = {}
    replace = Patches.replace

    def noted(patches: Patches, owner: Any, name: str, replacement: Any) -> None:
        before.setdefault((owner, name), vars(owner).get(name))
        replace(patches, owner, name, replacement)
    monkeypatch.setattr(Patches, 'replace', noted)
    return before

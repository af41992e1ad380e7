"""`tf.data.Options`: settings of datasets. Only `deterministic` changes what happens here; the others are kept."""
from __future__ import annotations

from typing import Any

_GROUPS = ('autotune', 'distribute', 'experimental_distribute', 'experimental_optimization', 'threading')


class _Group:
    """Settings that TensorFlow groups, kept as they are given."""

    def __getattr__(self, name: str) -> Any:
        if name.startswith('__'):
            raise AttributeError(name)
        return None


class Options:
    """Settings; None where nothing is said.

    Attributes:
        deterministic: Whether elements keep their order where several threads work.
    """

    def __init__(self) -> None:
        self.deterministic: bool | None = None
        for name in _GROUPS:
            setattr(self, name, _Group())

    def __getattr__(self, name: str) -> Any:
        if name.startswith('__'):
            raise AttributeError(name)
        return None

    @property
    def experimental_deterministic(self) -> bool | None:
        """The old name of `deterministic`."""
        return self.deterministic

    @experimental_deterministic.setter
    def experimental_deterministic(self, value: bool | None) -> None:
        self.deterministic = value

    def merge(self, options: Options) -> Options:
        """These with others, which win."""
        found = Options()
        for given in (self, options):
            found.__dict__.update({name: value for name, value in given.__dict__.items() if value is not None})
        return found

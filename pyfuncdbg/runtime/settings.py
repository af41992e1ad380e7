"""Settings objects of TensorFlow 1 that programs make and pass on: `ConfigProto`, `RunOptions`, `RunMetadata`.

They hold what is set on them, at any depth; the runtime reads what it can act on and ignores devices and thread pools.
"""
from __future__ import annotations

from typing import Any


class Settings:
    """Fields of any name; one that was not set is a group of further fields, which is false.

    Args:
        **fields: Their values.
    """

    def __init__(self, **fields: Any) -> None:
        self.__dict__.update(fields)

    def __getattr__(self, name: str) -> Any:
        if name.startswith('__'):
            raise AttributeError(name)
        group = Settings()
        self.__dict__[name] = group
        return group

    def __bool__(self) -> bool:
        return any(bool(value) for value in self.__dict__.values())

    def __repr__(self) -> str:
        return f'Settings({", ".join(f"{name}={value!r}" for name, value in self.__dict__.items())})'


def ConfigProto(**fields: Any) -> Settings:  # noqa: N802  TensorFlow's name
    """Settings of a session."""
    return Settings(**fields)


def GPUOptions(**fields: Any) -> Settings:  # noqa: N802  TensorFlow's name
    """Settings of GPUs, of which there are none."""
    return Settings(**fields)


def RunOptions(**fields: Any) -> Settings:  # noqa: N802  TensorFlow's name
    """Settings of one run."""
    return Settings(**fields)


def RunMetadata(**fields: Any) -> Settings:  # noqa: N802  TensorFlow's name
    """What a run reports, which is nothing here: recordings tell more."""
    return Settings(**fields)

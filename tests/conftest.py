"""What all tests share: those against the real TensorFlow need it installed."""
from __future__ import annotations

import importlib.util

import pytest


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    if importlib.util.find_spec('tensorflow') is None:
        absent = pytest.mark.skip(reason="needs the real TensorFlow: pip install '.[tensorflow]'; .ci/run does so")
        for item in items:
            if item.get_closest_marker('tensorflow'):
                item.add_marker(absent)

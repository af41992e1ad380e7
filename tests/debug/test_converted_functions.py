"""Whether TensorFlow runs a function as a copy: asked of whatever the program holds under its name by now."""
from __future__ import annotations

import sys
import types

import pytest

from pyfuncdbg.debug.converted import converted

FILE = '/program/model.py'


class Slotted:
    """As `tf.Graph`: nothing can be asked of it by `vars`."""

    __slots__ = ()


class Function:
    """As what `tf.function` makes."""

    def __init__(self) -> None:
        self._autograph = True


@pytest.mark.parametrize('kind, told', [(Slotted, False), (Function, True)])
def test_a_name_that_holds_something_of_tensorflow_by_now(monkeypatch: pytest.MonkeyPatch, kind: type, told: bool) -> None:
    module = types.ModuleType('model')
    module.__file__ = FILE
    monkeypatch.setattr(kind, '__module__', 'tensorflow.python.framework.ops')
    vars(module)['build'] = kind()
    monkeypatch.setitem(sys.modules, 'tensorflow', sys.modules.get('tensorflow') or types.ModuleType('tensorflow'))
    monkeypatch.setitem(sys.modules, 'model', module)
    assert bool(converted(FILE, 'build')) is told

"""Line breakpoints in functions that AutoGraph runs as copies: nothing stops there, and it is said where they are set."""
from __future__ import annotations

import importlib.util
from pathlib import Path
from typing import Any

import pytest
from scripted_user import ScriptedUser

import pyfuncdbg
from pyfuncdbg.debug.breakpoint_list import state_of
from pyfuncdbg.debug.debugger import debugger

pytestmark = [pytest.mark.tensorflow, pytest.mark.timeout(100)]

PROGRAM = '''
import tensorflow as tf

@tf.function{options}
def outer(x):
    def inner(a):
        b = a + 1
        return b
    return tf.numpy_function(inner, [x], tf.float32, name='inner')
'''


def loaded(folder: Path, options: str) -> tuple[Any, str]:
    """The program as a module, and its file."""
    import sys
    file = folder / 'converted_program.py'
    file.write_text(PROGRAM.format(options=options))
    spec = importlib.util.spec_from_file_location('converted_program', file)
    assert spec is not None and spec.loader is not None
    module = sys.modules['converted_program'] = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module, str(file)


@pytest.mark.parametrize(('options', 'copied'), [('', True), ('(autograph=False)', False)])
def test_a_line_in_a_copy_is_told_where_it_is_set(tf: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, options: str,
                                                  copied: bool) -> None:
    import sys
    monkeypatch.setitem(sys.modules, 'converted_program', None)     # put back at the end
    module, file = loaded(tmp_path, options)
    with pyfuncdbg.attach('tensorflow'), ScriptedUser() as user:
        debugger.start()
        made = debugger.breakpoints.set(f'{file}:8')
        try:
            note = state_of(debugger.breakpoints.entry(made.number), debugger.breakpoints).note
            assert module.outer(tf.constant([1.0])).numpy().tolist() == [2.0]
        finally:
            debugger.breakpoints.clear(made.number)
    assert (user.phases == []) is copied                # the stop comes where its own code runs, and there alone
    assert ("AutoGraph runs a copy of 'inner'" in note and "'break inner' stops" in note) is copied

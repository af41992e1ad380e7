"""Functions that the real TensorFlow runs as a copy: AutoGraph compiles a `tf.function` into a file of its own.

A line breakpoint in the program's file is never come to there. Asked where line breakpoints are told; on any thread.
"""
from __future__ import annotations

import sys
from types import ModuleType
from typing import Any


def converted(filename: str, function: str) -> str:
    """What to say of a line breakpoint in a function of this file, by its qualified name; '' where its own code runs."""
    if 'tensorflow' not in sys.modules or not function:
        return ''
    module = next((one for one in list(sys.modules.values())
                   if issubclass(type(one), ModuleType) and vars(one).get('__file__') == filename), None)
    if module is None:
        return ''
    found: Any = None
    held = vars(module)
    for name in function.split('.'):
        found = held.get(name)
        if not isinstance(found, type):
            break
        held = dict(vars(found))
    if not str(type(found).__module__).startswith('tensorflow.'):
        return ''
    if getattr(found, '__dict__', {}).get('_autograph') is not True:    # a tf.Graph has none
        return ''
    last = function.rpartition('.')[2]
    copied = f'AutoGraph runs a copy of {last!r}, in which nothing stops at this line'
    if '<locals>' not in function:
        return f'{copied}; with tf.function(autograph=False) it runs itself'
    return (f"{copied}: 'break {last}' stops before its calls. Defined outside of the tf.function, or with "
            'tf.function(autograph=False), it runs itself')

"""Errors of failed nodes for the program. The class is TensorFlow's, the user's frames come first, the original is
the cause."""
from __future__ import annotations

import re
from collections.abc import Iterable

from pyfuncdbg.errors import InvalidArgumentError, OpError, ResourceExhaustedError
from pyfuncdbg.hooks.call import Frame
from pyfuncdbg.hosts.numpy.graph.operation import Operation

KERNEL_ERRORS = (OpError, ValueError, TypeError, IndexError, ArithmeticError, MemoryError)
"""Errors that a kernel may raise: TensorFlow's, and NumPy's."""


def host_error(error: Exception) -> OpError:
    """TensorFlow's error for a kernel's exception: itself, or one whose cause it is."""
    if isinstance(error, OpError):
        return error
    kind = ResourceExhaustedError if isinstance(error, MemoryError) else InvalidArgumentError
    raised = kind(None, None, str(error))
    raised.__cause__ = error
    return raised


def session_error(error: OpError | Exception, op: Operation) -> OpError:
    """The error that `Session.run` raises for a kernel's exception in `op`.

    The kernel's error is completed in place, so that its class, cause and traceback stay; NumPy's errors become
    InvalidArgumentError.
    """
    raised = error if isinstance(error, OpError) else InvalidArgumentError(None, None, kernel_text(error))
    if raised is not error:
        raised.__cause__ = error
    if not raised.located:
        place = f'{{{{node {op.name}}}}}'
        core = raised.message if place in raised.message else f'{raised.message}\n\t [[{place}]]'
        raised.locate(op, op.node_def, f"Graph execution error:\n\nDetected at node '{op.name}' defined at (most recent "
                                       f"call last):\n"
                      f"{''.join(_lines(op.stack, '    '))}Node: '{op.name}'\n{core}",
                      f"\n\nOriginal stack trace for '{op.name}':\n{''.join(_lines(op.stack, '  '))}")
    return raised


def function_error(error: OpError | Exception, op: Operation, function: str) -> OpError:
    """The error that a call of a traced function raises for a kernel's exception in `op`."""
    raised = error if isinstance(error, OpError) else InvalidArgumentError(None, None, kernel_text(error))
    if raised is not error:
        raised.__cause__ = error
    name = op.graph.place + op.name
    if not raised.located and '<lambda>' in function:
        raised.locate(None, None, f'{{{{function_node {function}}}}} {raised.message}\n\t [[{{{{node {name}}}}}]] '
                                  f'[Op:{function}]',
                      f'\n\nDetected at node {name} defined at (most recent call last):\n{"".join(_lines(op.stack, "  "))}')
    if not raised.located:
        raised.locate(None, None, f'Graph execution error:\n\nDetected at node {name} defined at (most recent call last):\n'
                      f"{''.join(_lines(op.stack, '  '))}\n{raised.message}\n\t [[{{{{node {name}}}}}]] [Op:{function}]")
    return raised


_BROADCAST = re.compile(r'operands could not be broadcast together with shapes ((?:\([\d,]*\) ?)+)')


def kernel_text(error: Exception) -> str:
    """The message of a kernel's error, with TensorFlow's text instead of NumPy's."""
    match = _BROADCAST.match(str(error))
    if match is None:
        return str(error)
    return 'Incompatible shapes: ' + ' vs. '.join(f'[{shape[1:-1].rstrip(",")}]' for shape in match[1].split())


def _lines(frames: Iterable[Frame], indent: str) -> list[str]:
    return [f'{indent}File "{frame.filename}", line {frame.line}, in {frame.function}\n' for frame in frames]

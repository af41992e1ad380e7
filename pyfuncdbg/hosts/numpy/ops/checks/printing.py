"""`tf.print`: show tensors while a graph runs, on the program's own standard error."""
from __future__ import annotations

import sys
from collections.abc import Sequence
from typing import Any

import numpy as np

from pyfuncdbg.hosts.numpy.graph.definitions.registry import OpDef, no_gradient, register
from pyfuncdbg.hosts.numpy.graph.tensor import Tensor
from pyfuncdbg.hosts.numpy.graph.types import dtypes
from pyfuncdbg.hosts.numpy.graph.types.nest import flatten, pack_sequence_as
from pyfuncdbg.hosts.numpy.ops.definition.constant import convert_to_tensor
from pyfuncdbg.hosts.numpy.ops.definition.shape_rules import same_rule
from pyfuncdbg.hosts.numpy.ops.strings.strings import format as string_format, value_text
from pyfuncdbg.hosts.numpy.runtime.eager.dispatch import apply


def _print(text: Any, output_stream: str = 'stderr', end: str = '\n') -> None:
    line = text[()].decode(errors='replace') + end
    if output_stream.startswith('file://'):
        with open(output_stream[len('file://'):], 'a') as file:
            file.write(line)
        return
    stream = sys.stdout if output_stream == 'stdout' else sys.stderr
    stream.write(line)
    stream.flush()


register(OpDef('PrintV2', _print, lambda inputs, attrs: [], no_gradient, outputs=0, stateful=True,
               kernel_attrs=('output_stream', 'end')))


def print_v2(*inputs: Any, output_stream: Any = sys.stderr, summarize: int = 3, sep: str = ' ', end: str = '\n',
             name: str | None = None) -> Any:
    """Print values and tensors, each time this runs.

    Args:
        *inputs: Tensors, Python values, and nested structures of both.
        output_stream: `sys.stderr`, `sys.stdout`, or 'file://PATH' to append to.
        summarize: How many first and last elements of each axis to show; -1 for all.
        sep: Between inputs.
        end: After the last one.
        name: Of the node.

    Returns:
        In a graph the operation that prints; None in eager mode.

    Raises:
        ValueError: Another stream.
    """
    target = _stream(output_stream)
    if len(inputs) == 1 and isinstance(inputs[0], Tensor) and inputs[0].dtype == dtypes.string and inputs[0].shape.rank == 0:
        text = inputs[0]
    else:
        templates: list[str] = []
        tensors: list[Any] = []
        for item in inputs:
            templates.append(_template(item, tensors))
        text = string_format(sep.join(templates), tensors, _HOLE, summarize)
    return apply('PrintV2', (text,), {'output_stream': target, 'end': end}, name)


_HOLE = '{pyfuncdbg:tensor}'
"""Placeholder for a tensor in a template; braces in the user's text must stay."""


class _Hole:
    def __repr__(self) -> str:
        return _HOLE


class _Text:
    """A text whose `repr` is the text itself."""

    def __init__(self, text: str) -> None:
        self._text = text

    def __repr__(self) -> str:
        return self._text


def _template(item: Any, tensors: list[Any]) -> str:
    if isinstance(item, str):
        return item
    leaves: list[Any] = []
    for leaf in flatten(item):
        if hasattr(leaf, 'printed'):                # a composite
            form, parts = leaf.printed(_HOLE)
            tensors += parts
            leaves.append(_Text(form))
            continue
        is_tensor = isinstance(leaf, Tensor) or hasattr(leaf, '_as_tensor') or isinstance(leaf, np.ndarray)
        if is_tensor:
            tensors.append(convert_to_tensor(leaf))
        leaves.append(_Hole() if is_tensor else leaf)
    return str(pack_sequence_as(item, leaves))


def _stream(output_stream: Any) -> str:
    if output_stream is sys.stdout or output_stream is sys.__stdout__ or output_stream == 'stdout':
        return 'stdout'
    if isinstance(output_stream, str) and output_stream.startswith('file://'):
        return output_stream
    # The default was bound at import; a program or test may have replaced sys.stderr since.
    if output_stream in (sys.stderr, sys.__stderr__, _STDERR):
        return 'stderr'
    raise ValueError(f'Unsupported output stream, logging level, or file.{output_stream}. Supported streams are sys.stdout, '
                     'sys.stderr, tf.logging.info, tf.logging.warning, tf.logging.error. File needs to be in the form of '
                     "'file://<filepath>'.")


_STDERR = sys.stderr


# ---------------------------------------------------------------- TensorFlow 1
def _print_v1(execution: Any, value: Any, *data: Any, message: str = '', first_n: int = -1, summarize: int = 3,
              _py_key: object = None) -> Any:
    count = execution.resource(('printed', id(_py_key)), lambda: [0])
    count[0] += 1
    if first_n < 0 or count[0] <= first_n:
        sys.stderr.write(message + ''.join('[' + value_text(item, summarize).strip('[]') + ']' for item in data) + '\n')
        sys.stderr.flush()
    return value


register(OpDef('Print', _print_v1, same_rule('Print'), lambda node, grad: [grad, *[None] * (len(node.inputs) - 1)],
               stateful=True,
               in_execution=True, kernel_attrs=('message', 'first_n', 'summarize', '_py_key'), free=True))


def Print(input_: Any, data: Sequence[Any], message: str | None = None, first_n: int | None = None,
          summarize: int | None = None,
          name: str | None = None) -> Tensor:
    """`input_`; `data` is printed to standard error when it is computed, the first `first_n` times."""
    attrs = {'message': message or '', 'first_n': -1 if first_n is None else first_n,
             'summarize': 3 if summarize is None else summarize, '_py_key': object()}
    return apply('Print', [convert_to_tensor(v) for v in (input_, *data)], attrs, name)

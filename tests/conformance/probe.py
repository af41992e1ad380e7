"""Evaluate the table of snippets with one backend and print what came out as JSON, one line a snippet.

    python tests/conformance/probe.py tensorflow > tests/conformance/facts.jsonl      records what TensorFlow does
    python tests/conformance/probe.py pyfuncdbg.tf                                     the same with pyfuncdbg
"""
from __future__ import annotations

import importlib
import json
import math
import os
import re
import sys
from pathlib import Path
from typing import Any

import numpy as np

sys.path.insert(0, str(Path(__file__).parent))
from snippets import TABLE


def plain(value: Any) -> Any:
    """A value as JSON: dtype, shape and elements of a tensor; structures of them."""
    if hasattr(value, 'numpy'):
        array = np.asarray(value.numpy())
        return {'dtype': value.dtype.name, 'shape': list(array.shape), 'values': [_item(v) for v in array.reshape(-1)]}
    if isinstance(value, (list, tuple)):
        return [plain(v) for v in value]
    return value if value is None or isinstance(value, (int, str, bool)) else repr(value)


def _item(value: Any) -> Any:
    if isinstance(value, bytes):
        return value.decode('latin-1')
    if np.iscomplexobj(value):
        return [_item(value.real), _item(value.imag)]
    number = value.item() if hasattr(value, 'item') else float(value)
    return number if not isinstance(number, float) or math.isfinite(number) else str(number)


def message(error: BaseException) -> dict[str, str]:
    """Class and first line of an error, without what TensorFlow says about its own machinery."""
    lines = [line for line in str(error).splitlines() if line.strip()]
    text = re.sub(r'^\{\{function_node [^}]*\}\} ?', '', lines[0] if lines else '')
    text = re.sub(r' ?\[Op:\w+\].*| for \'\{\{node .*', '', text)
    return {'error': type(error).__name__, 'text': text.rstrip()}


def functions(tf: Any) -> dict[str, Any]:
    """What snippets may call besides `tf` and `np`."""
    def grad(function: Any, *values: Any) -> Any:
        tensors = [tf.constant(v) for v in values]
        with tf.GradientTape() as tape:
            for tensor in tensors:
                tape.watch(tensor)
            result = function(*tensors)
        found = tape.gradient(result, tensors)
        return [tf.convert_to_tensor(g) if g is not None else None for g in found]

    def node(function: Any, shape: Any) -> Any:
        with tf.compat.v1.Graph().as_default():
            result = function(tf.compat.v1.placeholder(tf.float32, shape, name='p'))
            first = result[0] if isinstance(result, (list, tuple)) else result
            return [first.name, first.op.type, str(first.shape), first.dtype.name]
    return {'tf': tf, 'np': np, 'grad': grad, 'node': node}


def evaluate(code: str, names: dict[str, Any]) -> Any:
    """The plain result of one snippet, or its error."""
    try:
        return plain(eval(code, dict(names)))
    except Exception as error:  # the error is the result
        return message(error)


def main() -> None:
    os.environ.setdefault('TF_CPP_MIN_LOG_LEVEL', '3')
    os.environ.setdefault('TF_ENABLE_ONEDNN_OPTS', '0')         # whose kernels have other words
    names = functions(importlib.import_module(sys.argv[1]))
    for code in dict.fromkeys(TABLE):
        print(json.dumps({'code': code, 'result': evaluate(code, names)}))


if __name__ == '__main__':
    main()

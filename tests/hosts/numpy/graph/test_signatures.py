"""TensorFlow's op registry as far as it is written down: what is read of it, and that the ops here are in it."""
import pytest

import pyfuncdbg.tf  # noqa: F401  registers every op
from pyfuncdbg.hosts.numpy.graph.definitions.registry import registered_ops
from pyfuncdbg.hosts.numpy.graph.definitions.signatures import _lines, signature
from pyfuncdbg.hosts.numpy.graph.types import dtypes
from pyfuncdbg.hosts.numpy.graph.types.shapes import TensorShape


def test_every_line_can_be_read() -> None:
    for op in _lines():
        found = signature(op)
        assert found is not None and found.text.startswith(f'Op<name={op}; signature=')
        for argument in (*found.inputs, *found.outputs):
            assert argument.type in found.attrs or argument.type in dtypes._BY_KEY, (op, argument)
            assert not argument.number or found.attrs[argument.number] == 'int'


def test_fields() -> None:
    split = signature('Split')
    assert split is not None
    assert [(a.name, a.type, a.number) for a in split.inputs] == [('split_dim', 'int32', ''), ('value', 'T', '')]
    assert split.outputs[0].dtypes({'num_split': 3, 'T': dtypes.float32}) == [dtypes.float32] * 3
    call = signature('PartitionedCall')
    assert call is not None and call.inputs[0].type == 'Tin' and call.outputs[0].type == 'Tout'
    assert call.outputs[0].dtypes({'Tout': [dtypes.int32, dtypes.bool]}) == [dtypes.int32, dtypes.bool]


@pytest.mark.parametrize(('op', 'attr', 'default'), [
    ('Cast', 'Truncate', False), ('LeakyRelu', 'alpha', 0.2), ('Sum', 'Tidx', dtypes.int32),
    ('StringJoin', 'separator', b''), ('Squeeze', 'squeeze_dims', []),
    ('Conv2D', 'dilations', [1, 1, 1, 1]), ('Placeholder', 'shape', TensorShape(None)),
    ('PrintV2', 'end', b'\n'),
])
def test_defaults(op: str, attr: str, default: object) -> None:
    found = signature(op)
    assert found is not None and found.optional(attr) and found.defaults[attr] == default


OWN = {'EagerPyFuncGrad', 'GatherV2Grad'}
"""Ops that TensorFlow does not have."""


def test_our_ops_are_in_it() -> None:
    from pyfuncdbg.hosts.numpy.graph.definitions.attributes import _rules
    missing = {d.name for d in registered_ops()} & _rules().keys() - _lines().keys() - OWN
    assert missing == set(), 'add their lines to op_signatures.txt, as TensorFlow prints them in an error about a NodeDef'

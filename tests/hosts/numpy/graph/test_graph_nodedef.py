"""Node texts, copied from TensorFlow 2.21."""
import re

import ml_dtypes
import numpy as np
import pytest
from google.protobuf.wrappers_pb2 import BytesValue

from pyfuncdbg.hosts.numpy.graph.definitions.attributes import FunctionName
from pyfuncdbg.hosts.numpy.graph.proto.nodedef import node_def, op_def
from pyfuncdbg.hosts.numpy.graph.types import dtypes
from pyfuncdbg.hosts.numpy.graph.types.convert import to_array
from pyfuncdbg.hosts.numpy.graph.types.shapes import TensorShape

F = dtypes.float32


def _flat(text: object) -> str:
    return ' '.join(str(text).split())


def _written(text: str) -> str:
    """How the protobuf that is installed writes bytes: 5.29 leaves their quotes and backslashes as they are."""
    kept = 'value: "\'"' in str(BytesValue(value=b"'"))
    return re.sub(r'\\(["\'\\])', r'\1', text) if kept else text


def test_whole_text() -> None:
    node = node_def('add', 'AddV2', ['p:0', 'split:1', '^c'], '/device:CPU:0', {'T': F, 'shape': TensorShape([None, 3])})
    assert str(node) == '''name: "add"
op: "AddV2"
input: "p"
input: "split:1"
input: "^c"
device: "/device:CPU:0"
attr {
  key: "shape"
  value {
    shape {
      dim {
        size: -1
      }
      dim {
        size: 3
      }
    }
  }
}
attr {
  key: "T"
  value {
    type: DT_FLOAT
  }
}
'''
    assert (node.name, node.op, node.input, node.device) == ('add', 'AddV2', ['p', 'split:1', '^c'], '/device:CPU:0')
    assert node.attr['T'].type == 1 and str(node.attr['T']) == 'type: DT_FLOAT\n'
    assert [d.size for d in node.attr['shape'].shape.dim] == [-1, 3] and 'zz' not in node.attr


@pytest.mark.parametrize(('value', 'text'), [
    (True, 'b: true'), (False, 'b: false'), (-1, 'i: -1'), (0.2, 'f: 0.2'), (0.001, 'f: 0.001'), (1.0, 'f: 1'),
    ('x"y\'\n\té', r's: "x\"y\'\n\t\303\251"'), (b'\n\x07\x00J\xff', r's: "\n\007\000J\377"'), ('', 's: ""'),
    (dtypes.float16, 'type: DT_HALF'), ([F, dtypes.int64], 'list { type: DT_FLOAT type: DT_INT64 }'), ([], 'list { }'),
    ([1, 2], 'list { i: 1 i: 2 }'), ([b'loc:@v'], 'list { s: "loc:@v" }'), (FunctionName('__inference_fn_87'),
                                                                            'func { name: "__inference_fn_87" }'),
    (TensorShape(None), 'shape { unknown_rank: true }'), (TensorShape([]), 'shape { }'),
    (TensorShape([0, 2]), 'shape { dim { } dim { size: 2 } }'),
])
def test_attributes(value: object, text: str) -> None:
    assert _flat(node_def('n', 'O', [], '', {'a': value}).attr['a']) == _written(text)


@pytest.mark.parametrize(('value', 'text'), [
    (1., 'DT_FLOAT tensor_shape { } float_val: 1'),
    ([1., 2.], r'DT_FLOAT tensor_shape { dim { size: 2 } } tensor_content: "\000\000\200?\000\000\000@"'),
    (5, 'DT_INT32 tensor_shape { } int_val: 5'), (True, 'DT_BOOL tensor_shape { } bool_val: true'),
    ('a"b\\\n\x00é', r'DT_STRING tensor_shape { } string_val: "a\"b\\\n\000\303\251"'),
    (['a', 'b'], 'DT_STRING tensor_shape { dim { size: 2 } } string_val: "a" string_val: "b"'),
    (np.float64(1.5), 'DT_DOUBLE tensor_shape { } double_val: 1.5'),
    (1j, 'DT_COMPLEX128 tensor_shape { } dcomplex_val: 0 dcomplex_val: 1'),
    (np.array([1 + 2j], np.complex64), 'DT_COMPLEX64 tensor_shape { dim { size: 1 } } scomplex_val: 1 scomplex_val: 2'),
    ([True, False], 'DT_BOOL tensor_shape { dim { size: 2 } } bool_val: true bool_val: false'),
    (np.array([1], np.int8), 'DT_INT8 tensor_shape { dim { size: 1 } } int_val: 1'),
    (np.uint64(2**63), 'DT_UINT64 tensor_shape { } uint64_val: 9223372036854775808'),
    (np.array([1.5], np.float16), 'DT_HALF tensor_shape { dim { size: 1 } } half_val: 15872'),
    (ml_dtypes.bfloat16(1.5), 'DT_BFLOAT16 tensor_shape { } half_val: 16320'),
    ([], 'DT_FLOAT tensor_shape { dim { } }'), (np.zeros((1, 0)), 'DT_DOUBLE tensor_shape { dim { size: 1 } dim { } }'),
    (np.array([[7, -1]], np.int16), r'DT_INT16 tensor_shape { dim { size: 1 } dim { size: 2 } } '
                                    r'tensor_content: "\007\000\377\377"'),
    (np.int64(7), 'DT_INT64 tensor_shape { } int64_val: 7'),
])
def test_tensors(value: object, text: str) -> None:
    written = _written(f'tensor {{ dtype: {text} }}')
    assert _flat(node_def('n', 'Const', [], '', {'value': to_array(value)}).attr['value']) == written


@pytest.mark.parametrize(('value', 'text'), [
    (np.float32(1e-7), '1e-07'), (np.float32(1e20), '1e+20'), (np.float32(0.1), '0.1'), (np.float32('nan'), 'nan'),
    (np.float32('-inf'), '-inf'), (np.float32(-0.), '-0'), (np.float32(123456789), '123456792'),
    (np.float32(16777216), '16777216'), (np.float32(3.14159265), '3.14159274'), (np.float64(3.14159265358979),
                                                                                 '3.14159265358979'),
    (np.float64(1e22), '1e+22'), (np.float64(123456789.123), '123456789.123'), (np.float64(1 / 3), '0.33333333333333331'),
])
def test_numbers(value: np.floating, text: str) -> None:
    assert f'_val: {text}\n' in str(node_def('n', 'Const', [], '', {'value': value}))


@pytest.mark.parametrize('keys', [
    ['seed', 'seed2', 'dtype', 'T'], ['shape', 'dtype', '_has_manual_control_dependencies', 'Tout', 'Tin'],
])
def test_order_of_attributes(keys: list[str]) -> None:
    text = str(node_def('r', 'R', [], '', dict.fromkeys(sorted(keys), 1)))
    assert [line for line in text.splitlines() if 'key' in line] == [f'  key: "{k}"' for k in keys]


def test_refuses_what_no_proto_holds() -> None:
    with pytest.raises(TypeError, match='An attribute cannot hold None of type NoneType'):
        str(node_def('n', 'O', [], '', {'a': None}))


def test_op_def() -> None:
    assert _flat(op_def('Identity')) == (
        'name: "Identity" input_arg { name: "input" type_attr: "T" } output_arg { name: "output" type_attr: "T" } '
        'attr { name: "T" type: "type" }')
    script = op_def('PyFunc', True)
    assert (script.is_stateful, script.input_arg[0].type_list_attr, script.output_arg[0].type_list_attr) == (
        True, 'Tin', 'Tout')
    assert [(a.name, a.type) for a in script.attr] == [('token', 'string'), ('Tin', 'list(type)'), ('Tout', 'list(type)')]
    assert op_def('Cast').attr[2].default_value.WhichOneof('value') == 'b'
    assert str(op_def('Own', True)) == 'name: "Own"\nis_stateful: true\n'

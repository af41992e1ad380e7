import tensorflow as tf, numpy as np

v1 = tf.compat.v1


def attempt(label, function):
    try:
        print(label, '->', function())
    except Exception as error:
        print(label, '!!', type(error).__name__, '|', str(error).split('\n')[0])


with tf.Graph().as_default() as g:
    a = v1.placeholder(tf.float32, [None, 2], name='a')
    b = tf.constant([[1., 2.], [3., 4.]], name='b')
    c = tf.matmul(a, b, name='c')
    op = c.op
    print(op.name, op.type, op.graph is g, op.device == '', [t.name for t in op.inputs], [t.name for t in op.outputs])
    print(len(op.inputs), op.inputs[0] is a, list(op.inputs)[1] is b, a in list(op.inputs))
    print(op.control_inputs, op.values() == (c,), op.get_attr('transpose_a'), op.get_attr('T'))
    print(b.op.get_attr('dtype'), a.op.get_attr('shape'))
    attempt('attr', lambda: op.get_attr('nope'))
    attempt('attr', lambda: op.get_attr('_nope'))
    print(c.graph is g, c.op is op, c.value_index, c.name, c.dtype, c.shape, c.get_shape().as_list(), c.device == '')
    print([o.name for o in a.consumers()], c.consumers())
    print(op.node_def.name, op.node_def.op, list(op.node_def.input), op.op_def.name, op.op_def.is_stateful)
    print(repr(op), repr(c), str(c))
    op._set_attr('_mine', v1.AttrValue(s=b'x'))
    print(op.get_attr('_mine'))
    op._set_attr('_number', v1.AttrValue(i=3))
    print(op.get_attr('_number'), op.node_def.attr['_number'].i)
    op._set_device('/cpu:0')
    print(op.device)
    print(isinstance(op, tf.Operation), isinstance(c, tf.Tensor))

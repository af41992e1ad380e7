import tensorflow as tf, numpy as np

with tf.Graph().as_default() as g:
    a = tf.constant(1., name='a')
    with tf.control_dependencies([a]):
        b = tf.no_op(name='b')
    c = tf.identity(a, name='c')
    tf.add(a, a, name='twice')
    print([op.name for op in a.consumers()], [op.name for op in a.op._control_outputs])
    b._add_control_input(c.op)
    print([op.name for op in b.control_inputs])
    b._add_control_inputs([a.op, c.op])
    print([op.name for op in b.control_inputs])
    b._remove_all_control_inputs()
    print([op.name for op in b.control_inputs])

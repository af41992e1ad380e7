import tensorflow as tf, numpy as np

v1 = tf.compat.v1


def attempt(label, function):
    try:
        print(label, '->', function())
    except Exception as error:
        print(label, '!!', type(error).__name__, '|', str(error).split('\n')[0])


with tf.Graph().as_default() as g:
    a = tf.constant(1., name='a')
    op = g.create_op('Identity', [a], [tf.float32], name='mine', attrs={'T': v1.AttrValue(type=1)})
    print(op.name, op.type, op.outputs[0].dtype, op.outputs[0].shape)
    with v1.Session() as sess:
        print(sess.run(op.outputs[0]))
    op = g.create_op('AddV2', inputs=[a, a], dtypes=[tf.float32], name='sum')
    attempt('list', lambda: g.create_op('Identity', a, [tf.float32]))
    attempt('not tensor', lambda: g.create_op('Identity', [3.], [tf.float32]))

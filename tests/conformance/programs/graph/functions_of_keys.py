import tensorflow as tf, numpy as np

v1 = tf.compat.v1

with tf.Graph().as_default() as g:
    a = tf.constant(1, name='a')
    print(v1.get_default_graph().get_operations()[0] is a.op, g.get_operations() is g.get_operations())
    print(g.get_operations()[0].name, len(g.get_operations()))
    print(tf.compat.v1.is_tensor(a) if hasattr(v1, 'is_tensor') else None, tf.is_tensor(a), tf.is_tensor(a.op), tf.is_tensor(1))
    print(g.is_fetchable(a), g.is_feedable(a))
    print(g._unsafe_unfinalize() if False else None)
    print(v1.get_local_variable if False else None)

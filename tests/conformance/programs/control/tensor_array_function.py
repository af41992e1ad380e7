import tensorflow as tf, numpy as np
def show(label, f):
    try:
        print(label, f())
    except Exception as e:
        text = str(e).splitlines()
        print(label, '!!', type(e).__name__, '|', text[0] if text else '')
@tf.function
def squares(n):
    ta = tf.TensorArray(tf.int32, 0, dynamic_size=True)
    return tf.while_loop(lambda i, t: i < n, lambda i, t: (i + 1, t.write(i, i * i)), [0, ta])[1].stack()
print(squares(tf.constant(5)).numpy(), squares(tf.constant(1)).numpy())
@tf.function
def chosen(p):
    return tf.cond(p, lambda: tf.TensorArray(tf.float32, 2).unstack([1., 2.]), lambda: tf.TensorArray(tf.float32, 2).unstack([3., 4.])).stack()
print(chosen(tf.constant(True)).numpy(), chosen(tf.constant(False)).numpy())
flow = tf.function(lambda: tf.TensorArray(tf.float32, 2).unstack([1., 2.]))()
print(flow.dtype, tf.TensorArray(tf.float32, flow=flow).read(1).numpy())
outer = tf.TensorArray(tf.float32, 2).unstack([1., 2.])
show('captured', lambda: tf.function(lambda: outer.read(1))())

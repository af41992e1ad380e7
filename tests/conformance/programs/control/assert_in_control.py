import tensorflow as tf, numpy as np
def show(label, f):
    try:
        print(label, f())
    except Exception as e:
        text = str(e).splitlines()
        print(label, '!!', type(e).__name__, '|', text[0] if text else '')
@tf.function
def f(x):
    def checked():
        with tf.control_dependencies([tf.debugging.assert_positive(x)]):
            return tf.sqrt(x)
    return tf.cond(x > -10., checked, lambda: x)
print(f(tf.constant(4.)).numpy(), f(tf.constant(-20.)).numpy())
show('fails', lambda: f(tf.constant(-4.)))
@tf.function
def g(n):
    def body(i):
        tf.debugging.Assert(i < 3, ['too far', i])
        return i + 1
    return tf.while_loop(lambda i: i < n, body, [0])[0]
print(g(tf.constant(2)).numpy())
show('fails', lambda: g(tf.constant(6)))

import tensorflow as tf, numpy as np
v1 = tf.compat.v1
def show(label, f):
    try:
        print(label, f())
    except Exception as e:
        text = str(e).splitlines()
        print(label, '!!', type(e).__name__, '|', text[0] if text else '')
x = tf.constant(3.)
show('true', lambda: tf.cond(x > 2., lambda: x * 2., lambda: x + 1.))
show('false', lambda: tf.cond(x > 5., lambda: x * 2., lambda: x + 1.))
show('python', lambda: tf.cond(True, lambda: 1, lambda: 2))
show('int', lambda: tf.cond(0, lambda: 1, lambda: 'no tensor'))
show('structure', lambda: tf.cond(True, lambda: {'a': x, 'b': [1, 2]}, lambda: None))
show('single', lambda: tf.cond(True, lambda: [x], lambda: [x]))
show('single v1', lambda: tf.compat.v1.cond(True, lambda: [x], lambda: [x]))
show('strict v1', lambda: tf.compat.v1.cond(True, lambda: [x], lambda: [x], strict=True))
show('fn1', lambda: tf.compat.v1.cond(True, fn1=lambda: 1, fn2=lambda: 2))
show('both', lambda: tf.compat.v1.cond(True, lambda: 1, lambda: 2, fn1=lambda: 1))
show('missing', lambda: tf.cond(True, lambda: 1))
show('no function', lambda: tf.cond(True, 1, lambda: 2))
show('vector', lambda: tf.cond(tf.constant([True, False]), lambda: 1, lambda: 2))

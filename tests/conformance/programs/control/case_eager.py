import tensorflow as tf, numpy as np
def show(label, f):
    try:
        print(label, f())
    except Exception as e:
        text = str(e).splitlines()
        print(label, '!!', type(e).__name__, '|', text[0] if text else '')
x = tf.constant(3.)
print(tf.case([(x > 5., lambda: 1), (x > 1., lambda: 2)], default=lambda: 3))
print(tf.case([(x > 5., lambda: 1), (x > 4., lambda: 2)], default=lambda: 3))
show('none', lambda: tf.case([(x > 5., lambda: 1), (x > 4., lambda: 2)]))
show('exclusive', lambda: tf.case([(x > 1., lambda: 1), (x > 2., lambda: 2)], exclusive=True))
show('pairs', lambda: tf.case(3))
show('pair', lambda: tf.case([(x > 1., lambda: 1, 3)]))
show('python pred', lambda: tf.case([(True, lambda: 1)]))
show('dtype', lambda: tf.case([(x, lambda: 1)]))

import tensorflow as tf, numpy as np
v1 = tf.compat.v1
v1.disable_eager_execution()
def show(label, f):
    try:
        print(label, f())
    except Exception as e:
        print(label, '!!', type(e).__name__, '|', str(e).splitlines()[0])
x = tf.constant(1.)
show('none', lambda: tf.gradients(None, x))
show('string', lambda: tf.gradients('a', x))
show('number', lambda: tf.gradients(3., x))
show('int', lambda: tf.gradients(tf.constant(1), tf.constant(2)))
show('int source', lambda: tf.gradients(x * 2., tf.constant(2)))
show('empty', lambda: (tf.gradients([], x), tf.gradients(x, [])))
show('name', lambda: tf.gradients('Const:0', 'Const:0'))
show('complex', lambda: tf.gradients(tf.complex(x, x), x))
with tf.Graph().as_default():
    y = tf.constant(1.)
    show('foreign', lambda: tf.gradients(y, x))
show('no default graph of it', lambda: tf.gradients(y, y))

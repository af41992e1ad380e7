import tensorflow as tf, numpy as np
v1 = tf.compat.v1
v1.disable_eager_execution()
def show(label, f):
    try:
        print(label, f())
    except Exception as e:
        print(label, '!!', type(e).__name__, '|', str(e).splitlines()[0])
import warnings
p = v1.placeholder(tf.float32, [None, 2], name='p')
g, = tf.gradients(tf.gather(p, [0, 1]), p)
with warnings.catch_warnings(record=True) as seen:
    warnings.simplefilter('always')
    print(tf.convert_to_tensor(g))
print([(w.category.__name__, str(w.message)) for w in seen])
with warnings.catch_warnings(record=True) as seen:
    warnings.simplefilter('always')
    print((g.values * 2.).shape)
    show('times', lambda: g * 2.)
print(len(seen))

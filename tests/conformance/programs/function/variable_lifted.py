import tensorflow as tf, numpy as np
def show(label, f, *args, **kwargs):
    try:
        print(label, f(*args, **kwargs))
    except Exception as e:
        print(label, '!!', type(e).__name__, '|', e)
def count(f):
    return f.experimental_get_tracing_count()
made = {}
@tf.function
def f(x):
    if not made:
        made['a'] = tf.Variable(tf.ones([2]) * 3.)
        made['b'] = tf.Variable(lambda: tf.constant(7.))
        made['c'] = tf.Variable([1, 2], trainable=False, name='third')
    made['a'].assign_add(tf.ones([2]))
    return made['a'] + x, made['b'], made['c']
show('first', f, tf.constant(1.)); show('second', f, tf.constant(1.))
print({k: (v.name, v.trainable, v.numpy().tolist()) for k, v in made.items()})
print(sorted(v.name for v in f.get_concrete_function(tf.constant(1.)).variables))

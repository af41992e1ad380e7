import tensorflow as tf, numpy as np
def show(label, f, *args, **kwargs):
    try:
        print(label, f(*args, **kwargs))
    except Exception as e:
        print(label, '!!', type(e).__name__, '|', e)
def count(f):
    return f.experimental_get_tracing_count()
@tf.function
def f(x):
    print(type(x).__name__, tf.executing_eagerly(), tf.inside_function())
    return x + 1
show('graph', f, tf.constant(1)); tf.config.run_functions_eagerly(True); print(tf.config.functions_run_eagerly())
show('eager', f, tf.constant(1)); show('eager', f, 5)
tf.config.run_functions_eagerly(False); print(tf.config.functions_run_eagerly()); show('graph', f, tf.constant(1))
print(tf.executing_eagerly(), tf.inside_function())
@tf.function
def g(x):
    with tf.init_scope():
        print(tf.executing_eagerly(), tf.inside_function())
        k = tf.constant(5)
    print(tf.executing_eagerly(), type(k).__name__)
    return x + k
show('init_scope', g, tf.constant(1))

import tensorflow as tf, numpy as np
def show(label, f, *args, **kwargs):
    try:
        print(label, f(*args, **kwargs))
    except Exception as e:
        print(label, '!!', type(e).__name__, '|', e)
def count(f):
    return f.experimental_get_tracing_count()
@tf.function(jit_compile=True)
def ok(x):
    return x * 2 + 1
show('ok', ok, tf.constant(3.))
called = []
def body(a):
    called.append(1)
    return a
for name, op in (('py_function', tf.py_function), ('numpy_function', tf.numpy_function)):
    f = tf.function(lambda x: op(body, [x], tf.float32), jit_compile=True)
    try:
        f(tf.constant(1.))
    except Exception as e:
        print(name, type(e).__name__, 'Detected unsupported operations when trying to compile graph' in str(e), 'XLA_CPU_JIT' in str(e))
print(called)
@tf.function(jit_compile=True)
def outer(x):
    return inner(x)
@tf.function
def inner(x):
    return tf.py_function(body, [x], tf.float32)
try:
    outer(tf.constant(1.))
except Exception as e:
    print('nested', type(e).__name__, str(e).split(' ')[0])
print(called)
show('off', tf.function(lambda x: tf.py_function(body, [x], tf.float32), jit_compile=False), tf.constant(1.)); print(called)

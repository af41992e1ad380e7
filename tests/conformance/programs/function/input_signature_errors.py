import tensorflow as tf, numpy as np
def show(label, f, *args, **kwargs):
    try:
        print(label, f(*args, **kwargs))
    except Exception as e:
        print(label, '!!', type(e).__name__, '|', e)
def count(f):
    return f.experimental_get_tracing_count()
def plain(x, y): return x
show('string', lambda: tf.function(plain, input_signature='a'))
show('spec', lambda: tf.function(plain, input_signature=tf.TensorSpec([], tf.int32)))
show('items', lambda: tf.function(plain, input_signature=[1, 2]))
show('too many', lambda: tf.function(plain, input_signature=[tf.TensorSpec([], tf.int32)] * 3)(1, 2))
show('too few', lambda: tf.function(plain, input_signature=[tf.TensorSpec([], tf.int32)])(1, 2))
def default(x, y=3): return x + y
f = tf.function(default, input_signature=[tf.TensorSpec([], tf.int32)])
show('default', f, 1); show('default given', f, 1, 3); show('default other', f, 1, 4)
def args(*xs): return xs[0]
show('varargs', lambda: tf.function(args, input_signature=[tf.TensorSpec([], tf.int32)] * 2)(1, 2))
def kwonly(x, *, y): return x
show('kwonly', lambda: tf.function(kwonly, input_signature=[tf.TensorSpec([], tf.int32)])(1, y=2))
show('empty', lambda: tf.function(lambda: 5, input_signature=[])())
show('empty given', lambda: tf.function(lambda: 5, input_signature=[])(1))

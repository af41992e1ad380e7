import tensorflow as tf, numpy as np
def show(label, f, *args):
    try:
        print(label, f(*args))
    except Exception as e:
        print(label, '!!', type(e).__name__, '|', e)
f = tf.function(lambda x: x * 2 if x > 0 else -x)
show('true', f, tf.constant(2)); show('false', f, tf.constant(-2)); show('python', f, 4)
@tf.function
def dtypes(x):
    return 1 if x > 0 else 'a'
show('dtypes', dtypes, tf.constant(1))
@tf.function
def none(x):
    y = x if x > 0 else None
    return y
show('none', none, tf.constant(1))
@tf.function
def nested(x):
    return 'big' if x > 10 else ('small' if x > 0 else 'negative')
for v in (11, 1, -1):
    show(v, nested, tf.constant(v))

import tensorflow as tf, numpy as np
def show(label, f, *args, **kwargs):
    try:
        print(label, f(*args, **kwargs))
    except Exception as e:
        print(label, '!!', type(e).__name__, '|', e)
def count(f):
    return f.experimental_get_tracing_count()
@tf.function
def f(**kw):
    print('trace', list(kw))
    return [kw[k] for k in kw]
t = tf.constant
show('ab', f, a=t(1), b=t(2)); show('ba', f, b=t(2), a=t(1)); print(count(f))
@tf.function
def g(x, y=tf.constant(5)):
    return x + y
show('default tensor', g, t(1)); show('given', g, t(1), t(2)); show('again', g, t(1)); print(count(g))
c = f.get_concrete_function(a=tf.TensorSpec([], tf.int32), b=tf.TensorSpec([], tf.int32))
print(c.structured_input_signature); show('concrete', c, a=t(1), b=t(2)); show('positional', c, t(1), t(2))

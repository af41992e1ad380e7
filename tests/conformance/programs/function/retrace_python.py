import tensorflow as tf, numpy as np
def show(label, f, *args, **kwargs):
    try:
        print(label, f(*args, **kwargs))
    except Exception as e:
        print(label, '!!', type(e).__name__, '|', e)
def count(f):
    return f.experimental_get_tracing_count()
@tf.function
def f(x, flag=None):
    print('trace', x, flag)
    return tf.constant(x)
for a in (1, 2, 1, 1.0, True, 2.5, 'a', 'a', b'a'):
    show(a, f, a)
print(count(f))
show('kw', f, 1, flag='x'); show('kw', f, 1, flag='x'); show('kw', f, x=1, flag='x'); show('kw', f, 1, 'x')
print(count(f))
show('none', f, 1, None)
print(count(f))

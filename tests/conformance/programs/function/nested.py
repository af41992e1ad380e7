import tensorflow as tf, numpy as np
def show(label, f, *args, **kwargs):
    try:
        print(label, f(*args, **kwargs))
    except Exception as e:
        print(label, '!!', type(e).__name__, '|', e)
def count(f):
    return f.experimental_get_tracing_count()
@tf.function
def inner(x):
    print('inner', x.shape)
    return x + 1
@tf.function
def outer(x):
    print('outer')
    return inner(x) + inner(x * 2) + inner(tf.stack([x, x]))[0]
show('outer', outer, tf.constant(1)); show('inner', inner, tf.constant(1)); print(count(inner), count(outer))
c = outer.get_concrete_function(tf.TensorSpec([], tf.int32))
print([(o.name, o.type) for o in c.graph.get_operations()])
@tf.function
def returns_function(x):
    return inner(x), [inner(x)], {'a': inner(x)}
show('structures', returns_function, tf.constant(1))
@tf.function
def recursive(n):
    return n if n < 2 else recursive(n - 1)
show('python recursion', recursive, 3)
conc = inner.get_concrete_function(tf.TensorSpec([], tf.int32))
@tf.function
def uses(x):
    return conc(x)
show('concrete inside', uses, tf.constant(4))

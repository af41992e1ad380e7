import tensorflow as tf, numpy as np
def show(label, f, *args):
    try:
        print(label, f(*args))
    except Exception as e:
        print(label, '!!', type(e).__name__, '|', e)
@tf.function
def inner(x):
    if x > 0:
        return x * 2
    return x
@tf.function
def outer(x):
    y = x
    while y < 50:
        y = inner(y) + 1
    return inner(y)
show('outer', outer, tf.constant(3))
print(inner.experimental_get_tracing_count(), outer.experimental_get_tracing_count())
@tf.function
def defines(x):
    @tf.function
    def local(v):
        if v > 0:
            return v
        return -v
    return local(x) + local(x - 10)
show('defines', defines, tf.constant(3))
def decorated(f):
    def wrapper(*args):
        r = f(*args)
        if r > 5:
            r = r * 100
        return r
    return wrapper
@decorated
def add(x):
    if x > 0:
        x = x + 3
    return x
show('decorator', tf.function(add), tf.constant(3)); show('decorator', tf.function(add), tf.constant(1))
@tf.function
def generator(x):
    def numbers():
        for i in range(3):
            yield i
    s = x
    for i in numbers():
        if s > i:
            s += i
    return s
show('generator', generator, tf.constant(3))
@tf.function
def lambdas(x):
    f = lambda v: v * 2 if v > 0 else v
    fs = [f, lambda v: v + 1 if v > 100 else f(v)]
    for g in fs:
        x = g(x)
    return x
show('lambdas', lambdas, tf.constant(3))

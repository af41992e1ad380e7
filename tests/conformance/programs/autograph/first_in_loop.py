import tensorflow as tf, numpy as np
def show(label, f, *args):
    try:
        print(label, f(*args))
    except Exception as e:
        print(label, '!!', type(e).__name__, '|', e)
@tf.function
def last(n):
    for i in tf.range(n):
        y = i * 10
    return y
show('once', last, tf.constant(3)); show('never', last, tf.constant(0))
@tf.function
def vector(n):
    while n > 0:
        y = tf.fill([2], n)
        n -= 1
    return y
show('vector', vector, tf.constant(3))
@tf.function
def temporary(n):
    s = 0
    for i in tf.range(n):
        square = i * i
        s += square
    return s
show('temporary', temporary, tf.constant(4))
@tf.function
def maybe(n):
    for i in tf.range(n):
        if i > 1:
            y = i
    return y
show('maybe', maybe, tf.constant(4))
@tf.function
def text(n):
    for i in tf.range(n):
        y = 'a'
    return y
show('text', text, tf.constant(4))
@tf.function
def pair(n):
    for i in tf.range(n):
        y = (i, [i + 1.5 if False else 2.5])
    return y
show('pair', pair, tf.constant(4))

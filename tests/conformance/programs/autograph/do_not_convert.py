import tensorflow as tf, numpy as np
def show(label, f, *args):
    try:
        print(label, f(*args))
    except Exception as e:
        print(label, '!!', type(e).__name__, '|', e)
@tf.autograph.experimental.do_not_convert
def plain(x):
    if x > 0:
        return x
    return -x
@tf.function
def calls(x):
    return plain(x)
show('called', calls, tf.constant(1)); show('eager', plain, tf.constant(-1))
print(plain.__name__)
@tf.autograph.experimental.do_not_convert()
def parentheses(x):
    return not x
show('parentheses', tf.function(parentheses), tf.constant(True))
@tf.function(autograph=False)
def off(x):
    while x > 0:
        x -= 1
    return x
show('off', off, tf.constant(1)); show('off python', off, 1)
def inner(x):
    if x > 0:
        return x
    return -x
show('inner', tf.function(lambda x: inner(x), autograph=False), tf.constant(1))
show('iterate', tf.function(lambda x: [a for a in x], autograph=False), tf.constant([1]))
@tf.function
def on(x):
    return inner(x)
@tf.function(autograph=False)
def calls_on(x):
    return on(x)
show('inside is converted', calls_on, tf.constant(-1))

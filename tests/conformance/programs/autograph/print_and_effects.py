import tensorflow as tf, numpy as np
def show(label, f, *args):
    try:
        print(label, f(*args))
    except Exception as e:
        print(label, '!!', type(e).__name__, '|', e)
@tf.function
def prints(x):
    print('tracing', x)
    if x > 0:
        print('tracing main')
        tf.print('running main')
    else:
        print('tracing else')
        tf.print('running else')
    while x > 0:
        print('tracing body')
        x -= 1
    return x
show('first', prints, tf.constant(2)); show('second', prints, tf.constant(0)); show('python', prints, 1)
calls = []
@tf.function
def effects(x):
    calls.append('top')
    for i in tf.range(x):
        calls.append('body')
    for i in range(3):
        calls.append(i)
    return x
show('effects', effects, tf.constant(2)); print(calls)
v = tf.Variable(0)
@tf.function
def assigns(x):
    if x > 0:
        v.assign_add(x)
    else:
        v.assign(0)
    return v.value()
show('assign', assigns, tf.constant(3)); show('assign', assigns, tf.constant(4)); show('reset', assigns, tf.constant(-1))
@tf.function
def branch_only(x):
    r = x
    if x > 0:
        r = tf.py_function(lambda a: (calls.append('yes'), a)[1], [x], tf.int32)
    return r
del calls[:]
branch_only(tf.constant(1)); branch_only(tf.constant(-1)); print(calls)

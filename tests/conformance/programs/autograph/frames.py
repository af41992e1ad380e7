import tensorflow as tf, numpy as np
def show(label, f, *args):
    try:
        print(label, f(*args))
    except Exception as e:
        print(label, '!!', type(e).__name__, '|', e)
def helper(x):
    y = x + 1
    raise ValueError('boom')
@tf.function
def in_branch(x):
    if x > 0:
        y = helper(x)
    else:
        y = x
    return y
show('branch', in_branch, tf.constant(1))
@tf.function
def in_loop(x):
    for i in tf.range(x):
        if i > 2:
            helper(i)
    return x
show('loop', in_loop, tf.constant(1))
@tf.function
def op_error(x):
    while x > 0:
        x = tf.matmul(x, x)
    return x
show('op', op_error, tf.constant(1))
@tf.function
def key(x):
    if x > 0:
        return {}['missing']
    return x
show('key', key, tf.constant(1))
class Mine(Exception):
    pass
@tf.function
def own(x):
    if x > 0:
        raise Mine('text')
    return x
show('own', own, tf.constant(1))
@tf.function
def attribute(x):
    return [x.nothing for _ in range(2)]
show('attribute', attribute, 1)
@tf.function
def name(x):
    if x > 0:
        return undefined_name
    return x
show('name', name, tf.constant(1))
@tf.function
def inner_call(x):
    return in_branch(x)
show('function in function', inner_call, tf.constant(1))
@tf.function
def asserts(x):
    assert x > 5, 'too small'
    return x
show('assert', asserts, 1)
@tf.function
def not_implemented(x):
    raise NotImplementedError('later')
show('not implemented', not_implemented, 1)

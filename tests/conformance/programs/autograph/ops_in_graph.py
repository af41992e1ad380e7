import tensorflow as tf, numpy as np
def show(label, f, *args):
    try:
        print(label, f(*args))
    except Exception as e:
        print(label, '!!', type(e).__name__, '|', e)
def ops(f, *specs):
    concrete = tf.function(f).get_concrete_function(*specs)
    print([(o.name, o.type) for o in concrete.graph.get_operations()])
    print([(t.name, t.shape, t.dtype.name) for t in concrete.outputs])
i = tf.TensorSpec([], tf.int32)
def absolute(x):
    if x < 0:
        x = -x
    return x
ops(absolute, i)
ops(lambda x: x if x > 0 else -x, i)
def early(x):
    if x > 0:
        return x
    x = x + 1
    return -x
ops(early, i)
def count(x):
    s = 0
    k = 0
    while k < x:
        s += k
        k += 1
    return s
ops(count, i)
def both(x):
    return x > 0 and x < 5
ops(both, i)
def negated(x):
    return not x
ops(negated, tf.TensorSpec([], tf.bool))
def effects(x):
    if x > 0:
        tf.print(x)
    return x
ops(effects, i)

import tensorflow as tf, numpy as np
tf1 = tf.compat.v1
calls = []
def counted(a):
    calls.append(1)
    return a + 1
def case(label, build):
    with tf.Graph().as_default(), tf1.Session() as s:
        calls.clear()
        y = build(tf.constant(1.), tf1.placeholder_with_default(True, []))
        for _ in range(3):
            s.run(y)
        print(label, len(calls))
def call(c):
    return tf1.py_func(counted, [c], tf.float32, stateful=False)
case('outside', lambda c, p: call(c))
case('function', lambda c, p: tf.function(lambda: call(c))())
case('function in function', lambda c, p: tf.function(lambda: tf.function(lambda: call(c))())())
case('branch', lambda c, p: tf.cond(p, lambda: call(c), lambda: c))
case('loop', lambda c, p: tf.while_loop(lambda i, a: i < 3, lambda i, a: (i + 1, call(c)), [0, 0.], shape_invariants=[tf.TensorShape([]), tf.TensorShape(None)])[1])
case('function in branch', lambda c, p: tf.cond(p, lambda: tf.function(lambda: call(c))(), lambda: c))

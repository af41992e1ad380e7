import tensorflow as tf, numpy as np
v1 = tf.compat.v1
v1.disable_eager_execution()
x = v1.placeholder(tf.float32, [3]); s = v1.Session()
def run(y):
    g = tf.gradients(y, x)[0]; h = tf.gradients(g, x)[0]
    print(s.run([y, g] + ([] if h is None else [h]), {x: [1., 2., 3.]}))
run(tf.TensorArray(tf.float32, 3).unstack(x * x).stack())
run(tf.TensorArray(tf.float32, 3).unstack(x * x).read(1))
run(tf.TensorArray(tf.float32, 2).write(0, x * x).write(1, x ** 3).stack())
run(tf.TensorArray(tf.float32, 2).write(0, x).write(0, x * x).read(0))
run(tf.TensorArray(tf.float32, 3).scatter([2, 0, 1], x * x).gather([0, 2]))
run(tf.TensorArray(tf.float32, 2, infer_shape=False).split(x * x, [1, 2]).concat())
def body(i, ta): return i + 1, ta.write(i, tf.cond(i > 0, lambda: ta.read(i - 1), lambda: x) * x)
run(tf.while_loop(lambda i, ta: i < 3, body, [0, tf.TensorArray(tf.float32, 3, clear_after_read=False)])[1].stack())

"""Newton's method for the cube root in a while_loop; the update is a py_func."""
import numpy as np

from pyfuncdbg import tf

tf1 = tf.compat.v1

def update(x, target, i):
    fx = x ** 3 - target
    dfx = 3 * x ** 2
    if i == 6:
        dfx = dfx - dfx[0]              # planted: zero derivative for the first element at the 7th step
    return (x - fx / dfx).astype(np.float32)

g = tf.Graph()
with g.as_default():
    target = tf1.placeholder(tf.float32, [4], name='target')
    x0 = tf.ones_like(target) * 2
    def cond(i, x): return i < 12
    def body(i, x):
        nx = tf1.py_func(update, [x, target, i], tf.float32, name='update')
        nx.set_shape([4])
        return i + 1, nx
    _, root = tf.while_loop(cond, body, [tf.constant(0), x0])
    err = tf.reduce_max(tf.abs(root ** 3 - target), name='err')

with tf1.Session(graph=g) as sess:
    for k in range(3):
        t = np.array([8., 27., 64., 125.], np.float32) + k
        print(k, sess.run([root, err], {target: t}))

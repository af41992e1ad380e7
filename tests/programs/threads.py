"""Two threads, a Session each; the functions share a scratch buffer."""
import threading
import time

import numpy as np

from pyfuncdbg import tf

tf1 = tf.compat.v1
scratch = np.zeros(1000, np.float32)

def smooth(x):
    np.cumsum(x, out=scratch)
    time.sleep(0.002)
    return (scratch / np.arange(1, 1001)).astype(np.float32)    # planted: the other thread may have written meanwhile

def worker(name, value):
    g = tf.Graph()
    with g.as_default():
        x = tf1.placeholder(tf.float32, [1000], name='x')
        y = tf1.py_func(smooth, [x], tf.float32, name=f'smooth_{name}')
        m = tf.reduce_mean(y)
        with tf1.Session() as sess:
            bad = 0
            for _ in range(60):
                got = sess.run(m, {x: np.full(1000, value, np.float32)})
                bad += abs(got - value) > 1e-3
            print(f'{name}: {bad} of 60 wrong')

ts = [threading.Thread(target=worker, args=a, name=a[0]) for a in (('left', 1.0), ('right', 5.0))]
for t in ts:
    t.start()
for t in ts:
    t.join()

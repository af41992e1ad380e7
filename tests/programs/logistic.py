"""The mean of a logistic loss whose gradient is FACTOR times the right one, of N elements of size SCALE in float32."""
import sys

import numpy as np

from pyfuncdbg import tf

N, FACTOR, SCALE = int(sys.argv[1]), float(sys.argv[2]), float(sys.argv[3])
x = tf.Variable(np.random.default_rng(0).normal(0, SCALE, N).astype(np.float32), name='x')

@tf.custom_gradient
def logistic(x):
    y = tf.py_function(lambda v: np.float32(np.log1p(np.exp(-v.numpy())).mean()), [x], tf.float32, name='loss')
    def grad(up):
        return tf.py_function(lambda v, u: (      # planted: FACTOR
            -FACTOR * u.numpy() / (1 + np.exp(v.numpy())) / N).astype(np.float32), [x, up], tf.float32, name='back')
    return y, grad

for _ in range(2):
    with tf.GradientTape() as tape:
        loss = logistic(x + 0.0)
    tape.gradient(loss, x)
print('done')

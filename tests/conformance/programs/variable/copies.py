import tensorflow as tf, numpy as np

import copy
import pickle

v = tf.Variable([1., 2.], name='v')
c = copy.copy(v)
d = copy.deepcopy(v)
v.assign([3., 4.])
print(d.numpy().tolist(), d is v, d.dtype, d.shape)
print(v.numpy().tolist())
a = np.asarray(v)
a = a + 1
print(v.numpy().tolist(), a.tolist())
n = v.numpy()
n[0] = 100.
print(v.numpy().tolist())
w = tf.Variable(v)
v.assign_add([1., 1.])
print(w.numpy().tolist())
t = v.read_value()
v.assign([0., 0.])
print(t.numpy().tolist())

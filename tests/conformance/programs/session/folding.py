import tensorflow as tf, numpy as np

v1 = tf.compat.v1

with tf.Graph().as_default(), v1.Session() as sess:
    calls = []

    def count():
        calls.append(1)
        return np.int64(len(calls))

    stateless = v1.py_func(count, [], tf.int64, stateful=False)
    stateful = v1.py_func(count, [], tf.int64)
    print([sess.run(stateless) for _ in range(3)], len(calls))
    print([sess.run(stateful) for _ in range(3)], len(calls))
    other = v1.Session()
    print(other.run(stateless) == len(calls), len(calls))

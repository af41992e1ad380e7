import tensorflow as tf, numpy as np
for given in (None, [], [2, None], [3]):
    proto = tf.TensorShape(given).as_proto()
    print(str(proto).split(), tf.TensorShape(proto), tf.TensorShape(proto) == tf.TensorShape(given))

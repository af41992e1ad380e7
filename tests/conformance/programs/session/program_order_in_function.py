import tensorflow as tf, numpy as np

order = []


@tf.function
def f(x):
    for i in range(4):
        tf.numpy_function(lambda v, i=i: order.append(i), [x], [])
    return x


f(tf.constant(1.))
print(order)

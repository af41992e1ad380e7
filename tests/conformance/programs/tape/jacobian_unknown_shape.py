import tensorflow as tf, numpy as np
@tf.function(input_signature=[tf.TensorSpec([None], tf.float32)])
def f(x):
    with tf.GradientTape() as t:
        t.watch(x)
        y = x * x
    return t.jacobian(y, x)
print(f(tf.constant([1., 2., 3.])))
print(f(tf.constant([2.])))
@tf.function(input_signature=[tf.TensorSpec([None, 2], tf.float32)])
def g(x):
    with tf.GradientTape() as t:
        t.watch(x)
        y = x * x
    return t.batch_jacobian(y, x)
print(g(tf.constant([[1., 2.], [3., 4.]])))

import tensorflow as tf, numpy as np
v = tf.Variable([1., 2.])
@tf.function
def f(n):
    return tf.while_loop(lambda i, s: i < n, lambda i, s: (i + 1, s * v + 1.), [tf.constant(0), tf.ones([2])])[1]
for n in (0, 1, 3):
    with tf.GradientTape() as tape:
        y = f(tf.constant(n))
    print(y.numpy(), tape.gradient(y, v, unconnected_gradients='zero').numpy())
print(f.get_concrete_function(tf.TensorSpec([], tf.int32)).structured_outputs.shape)
@tf.function
def counts(n):
    return tf.while_loop(lambda i: i < n, lambda i: (v.assign_add([1., 1.]), i + 1)[1:], [0])
print(counts(tf.constant(3))[0].numpy(), v.numpy())

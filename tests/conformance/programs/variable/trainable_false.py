import tensorflow as tf, numpy as np

def show(label, function):
    try:
        print(label, function())
    except Exception as error:
        print(label, '!!', type(error).__name__, '|', str(error).split('\n')[0])


v = tf.Variable(1., trainable=False)
with tf.GradientTape() as tape:
    y = v * v
print(tape.gradient(y, v))
with tf.GradientTape() as tape:
    tape.watch(v)
    y = v * v
print(tape.gradient(y, v))
with tf.GradientTape(watch_accessed_variables=False) as tape:
    w = tf.Variable(2.)
    z = w * w
print(tape.gradient(z, w))
print(tf.Variable(1., trainable=True).trainable, tf.Variable(1., synchronization=tf.VariableSynchronization.ON_READ).trainable)
show('conflict', lambda: tf.Variable(1., trainable=True, synchronization=tf.VariableSynchronization.ON_READ))

import tensorflow as tf, numpy as np
x = tf.constant([0., 1., -1.])
for name, f in dict(sqrt=tf.sqrt, log=tf.math.log, reciprocal=tf.math.reciprocal, rsqrt=tf.math.rsqrt, pow=lambda v: v ** 0.5, asin=tf.asin, acosh=tf.acosh, atanh=tf.atanh, log1p=tf.math.log1p, cbrt=lambda v: v ** (1. / 3.), divide=lambda v: 1. / v, norm=lambda v: tf.norm(v[:1])).items():
    with tf.GradientTape() as t:
        t.watch(x)
        y = f(x)
    print(name, t.gradient(y, x, output_gradients=tf.zeros_like(y)).numpy().tolist())

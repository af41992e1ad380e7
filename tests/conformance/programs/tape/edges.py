import tensorflow as tf, numpy as np
x = tf.constant([0., -0., 1., np.inf, np.nan])
for name, f in dict(abs=tf.abs, sqrt=tf.sqrt, relu=tf.nn.relu, sign=tf.sign, log=tf.math.log, exp=tf.exp, tanh=tf.tanh, reciprocal=tf.math.reciprocal, rsqrt=tf.math.rsqrt, square=tf.square, softplus=tf.nn.softplus, elu=tf.nn.elu, selu=tf.nn.selu, relu6=tf.nn.relu6, norm=tf.norm, reduce_max=tf.reduce_max, std=tf.math.reduce_std).items():
    with tf.GradientTape() as t:
        t.watch(x)
        y = f(x)
    print(name, t.gradient(y, x).numpy().tolist())

import tensorflow as tf, numpy as np
v1 = tf.compat.v1
v1.disable_eager_execution()
v = v1.get_variable('v', initializer=2., use_resource=True)
@tf.custom_gradient
def f(x):
    def grad(d, variables=None):
        return d * 7., [d * x * 100.]
    return x * v, grad
x = tf.constant(3.)
with v1.variable_scope('s', use_resource=True):
    y = f(x)
s = v1.Session()
s.run(v1.global_variables_initializer())
print(s.run(tf.gradients(y, [x, v])))

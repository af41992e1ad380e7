import tensorflow as tf, numpy as np
v1 = tf.compat.v1
v1.disable_eager_execution()
def show(label, f):
    try:
        print(label, f())
    except Exception as e:
        print(label, '!!', type(e).__name__, '|', str(e).splitlines()[0])
@tf.RegisterGradient('Tripled')
def tripled(op, grad): return 3. * grad
with v1.get_default_graph().gradient_override_map({'Identity': 'Tripled'}):
    y = tf.identity(tf.constant(2.), name='y')
x = y.op.inputs[0]
print(v1.Session().run(tf.gradients(y * 5., x)))
try:
    tf.RegisterGradient('Tripled')(tripled)
except KeyError as e:
    print('twice', str(e).split('(')[0])
tf.no_gradient('NothingOfThisName')

import tensorflow as tf, numpy as np
def show(label, f, *args, **kwargs):
    try:
        print(label, f(*args, **kwargs))
    except Exception as e:
        print(label, '!!', type(e).__name__, '|', e)
def count(f):
    return f.experimental_get_tracing_count()
v = tf.Variable([1., 2.])
k = tf.constant(3.)
@tf.function
def f(x):
    return x * v * k
c = f.get_concrete_function(tf.TensorSpec([], tf.float32))
print(len(c.captured_inputs), len(c.variables), c.variables[0] is v, len(c.trainable_variables)); print(len(c.inputs), c.inputs[0])
show('call', c, tf.constant(2.)); v.assign([10., 20.]); show('assigned', c, tf.constant(2.))
print([o.type for o in c.graph.get_operations()])
print(c.structured_outputs)
print(len(c.pretty_printed_signature().splitlines()))

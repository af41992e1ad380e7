import tensorflow as tf, numpy as np
def show(label, f, *args, **kwargs):
    try:
        print(label, f(*args, **kwargs))
    except Exception as e:
        print(label, '!!', type(e).__name__, '|', e)
def count(f):
    return f.experimental_get_tracing_count()
@tf.function
def f(x, _hidden, *args, **kwargs):
    a = tf.add(x, 1, name='plus')
    with tf.name_scope('scope'):
        b = a * 2
    return tf.identity(b, name='out')
t = tf.TensorSpec([], tf.int32)
c = f.get_concrete_function(t, t, t, t, k=t)
print([(o.name, o.type) for o in c.graph.get_operations()])
print([i.name for i in c.inputs]); print(c.outputs[0].name)
l = tf.function(lambda x: x)
print(l.get_concrete_function(t).name.decode().rsplit('_', 1)[0])
class K:
    @tf.function
    def method(self, x): return x
print(K().method.get_concrete_function(t).name.decode().rsplit('_', 1)[0])
print(f.get_concrete_function(tf.TensorSpec([], tf.int32, 'a'), tf.TensorSpec([], tf.int32, 'b')).structured_input_signature)

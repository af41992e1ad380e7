import tensorflow as tf, numpy as np
def show(label, f, *args, **kwargs):
    try:
        print(label, f(*args, **kwargs))
    except Exception as e:
        print(label, '!!', type(e).__name__, '|', e)
def count(f):
    return f.experimental_get_tracing_count()
@tf.function
def f(x, y):
    return x + y
c = f.get_concrete_function(tf.TensorSpec([None], tf.int32), tf.TensorSpec([], tf.int32))
show('call', c, tf.constant([1, 2]), tf.constant(3)); show('keywords', c, x=tf.constant([1]), y=tf.constant(2)); show('mixed', c, tf.constant([1]), y=tf.constant(2))
show('missing', c, tf.constant([1])); show('too many', c, tf.constant([1]), tf.constant(1), tf.constant(1)); show('unknown', c, tf.constant([1]), z=tf.constant(1))
show('dtype', c, tf.constant([1.]), tf.constant(3)); show('shape', c, tf.constant(1), tf.constant(3)); show('python', c, [1, 2], 3)
print(c.structured_input_signature); print(c.structured_outputs); print(c.inputs); print(c.outputs); print(c.output_shapes, c.output_dtypes)
print(type(c.name), c.name.startswith(b'__inference_f_')); print(c.captured_inputs, c.variables)
print(c.graph.name.startswith('f'), type(c.graph).__name__)
print(c.pretty_printed_signature()); print(c)

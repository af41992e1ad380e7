import tensorflow as tf, numpy as np
def show(label, f, *args, **kwargs):
    try:
        print(label, f(*args, **kwargs))
    except Exception as e:
        print(label, '!!', type(e).__name__, '|', e)
def count(f):
    return f.experimental_get_tracing_count()
@tf.function
def f(x):
    return x
f(tf.constant(1)); f(tf.constant(1.))
print(f.experimental_get_tracing_count(), f.input_signature, f.function_spec is not None)
print(f.pretty_printed_concrete_signatures())
print(str(f).startswith('<tensorflow') or '<pyfuncdbg' in str(f))
@tf.function(experimental_implements='google.matmul')
def g(x): return x
show('implements', g, tf.constant(1))
print(tf.function(lambda: 1).get_concrete_function().function_def.signature.name.startswith('__inference_'))


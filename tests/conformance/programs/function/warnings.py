import tensorflow as tf, numpy as np
def show(label, f, *args, **kwargs):
    try:
        print(label, f(*args, **kwargs))
    except Exception as e:
        print(label, '!!', type(e).__name__, '|', e)
def count(f):
    return f.experimental_get_tracing_count()
import logging, io
stream = io.StringIO()
tf.get_logger().addHandler(logging.StreamHandler(stream))
tf.get_logger().propagate = False
@tf.function
def f(x):
    return x
for i in range(8):
    f(i)
text = stream.getvalue()
print(text.count('triggered tf.function retracing'))
print(text[:text.find('calls to') ].split(' ')[0:1], 'Tracing is expensive' in text, 'reduce_retracing=True' in text)

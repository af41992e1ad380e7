import tensorflow as tf, numpy as np
def show(label, f, *args, **kwargs):
    try:
        print(label, f(*args, **kwargs))
    except Exception as e:
        print(label, '!!', type(e).__name__, '|', e)
def count(f):
    return f.experimental_get_tracing_count()
import threading
log = []
v = tf.Variable(0)
@tf.function
def f(x):
    log.append(1)
    v.assign_add(1)
    return x * 2
out = []
ts = [threading.Thread(target=lambda i=i: out.append(int(f(tf.constant(i))))) for i in range(8)]
[t.start() for t in ts]; [t.join() for t in ts]
print(sorted(out), v.numpy(), len(log))

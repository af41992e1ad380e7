import tensorflow as tf, numpy as np
def show(label, f, *args):
    try:
        print(label, f(*args))
    except Exception as e:
        print(label, '!!', type(e).__name__, '|', e)
def f(x):
    if x < 0:
        x = -x
    return x
g = tf.autograph.to_graph(f)
show('eager', g, tf.constant(-2)); show('eager', g, tf.constant(2)); show('python', g, -3)
show('in function', tf.function(g, autograph=False), tf.constant(-2))
def loop(n):
    s = 0
    while n > 0:
        if n == 2:
            n -= 1
            continue
        s += n
        n -= 1
    return s
h = tf.autograph.to_graph(loop)
show('loop', h, tf.constant(4)); show('loop python', h, 4)
with tf.Graph().as_default() as graph:
    y = g(tf.constant(-5))
    z = h(tf.constant(3))
    with tf.compat.v1.Session() as session:
        print(session.run([y, z]))
code = tf.autograph.to_code(f)
print('ag__.if_stmt' in code, 'def tf__f(x):' in code)
show('function', tf.autograph.to_graph, tf.function(f).python_function and 3)

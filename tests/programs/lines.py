from pyfuncdbg import tf


def build(n):
    a = tf.constant(float(n))
    b = a + 1
    return b  # noqa: RET504

def early(n):
    k = n + 1
    return k  # noqa: RET504

early(1)
early(2)
g = tf.Graph()
with g.as_default():
    y = build(3)
    z = tf.numpy_function(lambda v: v + v, [y], tf.float32, name='dbl')
    early(3)
early(4)
@tf.function
def traced(x):
    q = x + 1
    return q  # noqa: RET504
traced(tf.constant(1.0))
with tf.compat.v1.Session(graph=g) as s:
    early(5)
    s.run(z)
early(6)

import tensorflow as tf, numpy as np
v1 = tf.compat.v1
v1.disable_eager_execution()
def show(label, f):
    try:
        print(label, f())
    except Exception as e:
        print(label, '!!', type(e).__name__, '|', str(e).splitlines()[0])
x = tf.constant([1., 2.])
y = x * x + x * 3. + tf.sin(x)
s = v1.Session()
for method in (v1.AggregationMethod.ADD_N, v1.AggregationMethod.DEFAULT, v1.AggregationMethod.EXPERIMENTAL_TREE, v1.AggregationMethod.EXPERIMENTAL_ACCUMULATE_N):
    g, = tf.gradients(y, x, aggregation_method=method)
    print(method, g.op.type, s.run(g))
show('bad', lambda: tf.gradients(y, x, aggregation_method=17))

import tensorflow as tf, numpy as np
v1 = tf.compat.v1

# A node goes where its inputs are, whatever the default graph is.
with tf.Graph().as_default() as one:
    a = v1.placeholder(tf.float32, [2], name='a')
with tf.Graph().as_default() as two:
    for made in (a + 1., 2. * a, tf.maximum(a, 0.), a[0:1], tf.gather(a, 1), tf.less(a, [1., 2.])):
        print(made.name, made.graph is one, [op.name for op in two.get_operations()])
    with v1.Session(graph=one) as session:
        print(session.run(a * 3., {a: [1., 2.]}))
    b = tf.constant(1., name='b')
    for function in (lambda: a + b, lambda: b + a):
        try:
            function()
        except ValueError as error:
            print(str(error).split(' (graph')[0][:40])
    print([op.name for op in one.get_operations()], [op.name for op in two.get_operations()])

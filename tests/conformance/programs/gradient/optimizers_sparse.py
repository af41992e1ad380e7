import tensorflow as tf, numpy as np
v1 = tf.compat.v1
v1.disable_eager_execution()
for make in (lambda: v1.train.GradientDescentOptimizer(0.1), lambda: v1.train.MomentumOptimizer(0.1, 0.9), lambda: v1.train.AdamOptimizer(0.1)):
    with v1.Graph().as_default(), v1.Session() as s:
        v = v1.get_variable('v', initializer=[[1., 2.], [3., 4.], [5., 6.]], use_resource=True)
        optimizer = make()
        pairs = optimizer.compute_gradients(tf.reduce_sum(tf.gather(v, [1, 1, 0]) ** 2))
        print(optimizer.get_name(), [(type(g).__name__, w.name) for g, w in pairs])
        step = optimizer.apply_gradients(pairs)
        s.run(v1.global_variables_initializer())
        for i in range(3): s.run(step)
        print(np.round(s.run(v), 3).tolist())

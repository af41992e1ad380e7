import tensorflow as tf, numpy as np

print(tf.AggregationMethod.DEFAULT, tf.AggregationMethod.EXPERIMENTAL_TREE, tf.AggregationMethod.EXPERIMENTAL_ACCUMULATE_N)
with tf.Graph().as_default():
    counter = tf.compat.v1.Variable(6.0)
    step = counter.assign_add(1.0)
    after = tf.tuple([counter + 10.0], [tf.group(step)])
    named = tf.tuple([counter + 20.0], [tf.group(step)], 'both')
    old = tf.compat.v1.tuple([counter + 30.0], 'old', [step.op])
    print(after, named, old)
    slope = tf.gradients(counter * counter, counter, aggregation_method=tf.AggregationMethod.ADD_N)
    with tf.compat.v1.Session() as session:
        session.run(counter.initializer)
        print(session.run(slope))
        for fetch in (after, named, old):
            session.run(fetch)
            print(session.run(counter))
tf.random.set_seed(8)
print(tf.nn.dropout(tf.ones([2, 6]), 0.8, seed=2).numpy())
print(tf.nn.dropout(tf.ones([2, 6]), 2 / 3, noise_shape=[1, 6], seed=2).numpy())

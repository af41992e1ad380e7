import tensorflow as tf, numpy as np

v1 = tf.compat.v1
losses = v1.losses
right, guess = [[0.0, 1.0], [1.0, 0.0], [1.0, 1.0]], [[0.25, 0.5], [0.75, 0.125], [0.5, 3.0]]
weights = [[1.0], [0.0], [2.0]]
kinds = [losses.mean_squared_error, losses.absolute_difference, losses.log_loss, losses.hinge_loss, losses.huber_loss,
         losses.sigmoid_cross_entropy, losses.softmax_cross_entropy]

with tf.Graph().as_default() as graph:
    made = []
    for kind in kinds:
        shown = np.clip(guess, 0, 0.9) if kind is losses.log_loss else guess
        made += [kind(right, tf.constant(shown, tf.float32)), kind(right, tf.constant(shown, tf.float32), 0.5)]
    for reduction in losses.Reduction.all():
        made.append(losses.mean_squared_error(right, guess, weights, reduction=reduction))
    made.append(losses.sparse_softmax_cross_entropy([1, 0, 1], tf.constant(guess)))
    made.append(losses.sparse_softmax_cross_entropy([[1], [0], [1]], tf.constant(guess), weights=[1.0, 2.0, 0.0]))
    made.append(losses.softmax_cross_entropy(right, tf.constant(guess), label_smoothing=0.25))
    made.append(losses.sigmoid_cross_entropy(right, tf.constant(guess), label_smoothing=0.25))
    print([loss.name for loss in made[:14:2]], len(losses.get_losses()), losses.get_regularization_losses())
    losses.add_loss(tf.constant(1.0, name='own'), 'mine')
    print(losses.get_losses(loss_collection='mine'))
    with v1.Session() as session:
        for loss in made:
            print(session.run(loss))

with tf.Graph().as_default():
    x = tf.constant([[1.0], [2.0], [3.0]])
    slope = v1.get_variable('slope', [1, 1], initializer=v1.zeros_initializer())
    loss = losses.mean_squared_error([[2.0], [4.0], [6.0]], tf.matmul(x, slope))
    train = v1.train.GradientDescentOptimizer(0.05).minimize(loss)
    whole = losses.get_total_loss()
    with v1.Session() as session:
        session.run(v1.global_variables_initializer())
        for _ in range(4):
            print(session.run([loss, whole, train])[:2])
        print(session.run(slope))
for call in (lambda: losses.mean_squared_error(None, guess), lambda: losses.mean_squared_error(right, [1.0]),
             lambda: losses.mean_squared_error(right, guess, reduction='odd')):
    try:
        print(call())
    except Exception as error:
        print(type(error).__name__, error)
print(losses.huber_loss(right, guess))

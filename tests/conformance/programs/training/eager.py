import tensorflow as tf, numpy as np

v1 = tf.compat.v1


def show(label, function):
    try:
        print(label, function())
    except Exception as error:
        print(label, '!!', type(error).__name__, '|', str(error).split('\n')[0])


def rounded(value):
    value = np.asarray(value, np.float64)
    return float(f'{value:.4g}') if value.ndim == 0 else [rounded(item) for item in value]


for make in (lambda: v1.train.GradientDescentOptimizer(0.1), lambda: v1.train.MomentumOptimizer(0.1, 0.9),
             lambda: v1.train.AdamOptimizer(0.1), lambda: v1.train.AdagradOptimizer(0.1), lambda: v1.train.RMSPropOptimizer(0.1)):
    w = tf.Variable([1., 2.], name='w')
    optimizer = make()
    for _ in range(3):
        optimizer.minimize(lambda: tf.reduce_sum(w * w), var_list=[w])
    print(type(optimizer).__name__, rounded(w), [rounded(v) for v in optimizer.variables()])
    with tf.GradientTape() as tape:
        loss = tf.reduce_sum(w ** 3)
    optimizer.apply_gradients([(tape.gradient(loss, w), w)])
    print(rounded(w))
    slot = optimizer.get_slot_names()
    print(slot, [optimizer.get_slot(w, name).shape for name in slot])
step = tf.Variable(0, dtype=tf.int64)
v1.train.GradientDescentOptimizer(lambda: 0.5).minimize(lambda: w[0] * 2., global_step=step, var_list=[w])
print(rounded(w), int(step))
show('tensor', lambda: v1.train.GradientDescentOptimizer(0.1).minimize(tf.constant(1.)))

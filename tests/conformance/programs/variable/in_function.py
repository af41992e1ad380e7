import tensorflow as tf, numpy as np

def show(label, function):
    try:
        print(label, function())
    except Exception as error:
        print(label, '!!', type(error).__name__, '|', str(error).split('\n')[0])


counter = tf.Variable(0)


@tf.function
def count():
    counter.assign_add(1)
    return counter


@tf.function
def rows(table, indices):
    table.scatter_nd_update(indices, [9.])
    table[0].assign(5.)
    return table + 0.


print(count(), count(), counter.numpy())
table = tf.Variable([1., 2., 3.])
print(rows(table, [[1]]), table.numpy().tolist())


class Model(tf.Module):
    def __init__(self):
        super().__init__(name='model')
        self.w = None

    @tf.function
    def __call__(self, x):
        if self.w is None:
            self.w = tf.Variable(2.)
        return self.w * x


model = Model()
print(model(tf.constant(3.)), model.w.name, len(model.trainable_variables))


@tf.function
def bad(x):
    return tf.Variable(x)


show('made again', lambda: (bad(tf.constant(1.)), bad(tf.constant([1., 2.]))))

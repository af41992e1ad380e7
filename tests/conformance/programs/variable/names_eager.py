import tensorflow as tf, numpy as np

def show(label, function):
    try:
        print(label, function())
    except Exception as error:
        print(label, '!!', type(error).__name__, '|', str(error).split('\n')[0])


with tf.name_scope('outer'):
    print(tf.Variable(1.).name, tf.Variable(1., name='w').name)
    with tf.name_scope('inner'):
        print(tf.Variable(1., name='w').name)
print(tf.Variable(1., name='w').name, tf.Variable(1., name='w').name)
show('bad name', lambda: tf.Variable(1., name='a b').name)


class Layer(tf.Module):
    def __init__(self, name=None):
        super().__init__(name=name)
        with self.name_scope:
            self.w = tf.Variable([1.], name='w')
            self.b = tf.Variable([2.], name='b', trainable=False)


layer = Layer('layer')
print(layer.name, layer.w.name, [v.name for v in layer.variables], [v.name for v in layer.trainable_variables], [v.name for v in layer.non_trainable_variables])


class Net(tf.Module):
    def __init__(self):
        super().__init__()
        self.layers = [Layer('a'), Layer('b')]
        self.extra = {'x': tf.Variable(0., name='x')}


net = Net()
print(net.name, [v.name for v in net.variables], [m.name for m in net.submodules])

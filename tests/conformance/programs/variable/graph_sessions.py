import tensorflow as tf, numpy as np

v1 = tf.compat.v1


with tf.Graph().as_default():
    v = v1.get_variable('v', initializer=1.)
    grow = v1.assign_add(v, 1.)
    init = v1.global_variables_initializer()
    one, two = v1.Session(), v1.Session()
    one.run(init)
    two.run(init)
    print(one.run(grow), one.run(grow), two.run(grow), one.run(v), two.run(v))
    print(init.name, init.type, len(init.control_inputs))
    print(v1.variables_initializer([v]).name, v1.variables_initializer([]).type)
    print(v1.initialize_all_variables().name)
    one.close()
    two.close()

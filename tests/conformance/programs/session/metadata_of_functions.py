import tensorflow as tf, numpy as np

v1 = tf.compat.v1

with tf.Graph().as_default(), v1.Session() as sess:
    metadata = v1.RunMetadata()
    a = v1.py_func(lambda x: x, [tf.constant(1.)], tf.float32, name='first')
    b = v1.py_func(lambda x: x, [a], tf.float32, name='second')
    sess.run(b, options=v1.RunOptions(trace_level=v1.RunOptions.SOFTWARE_TRACE), run_metadata=metadata)
    nodes = {n.node_name: n for d in metadata.step_stats.dev_stats for n in d.node_stats}
    print(nodes['first'].all_start_micros <= nodes['second'].all_start_micros, nodes['second'].timeline_label)
    try:
        sess.run(v1.py_func(lambda: 1 / 0, [], tf.float64), options=v1.RunOptions(trace_level=3), run_metadata=metadata)
    except tf.errors.UnknownError as error:
        print('ZeroDivisionError' in str(error))

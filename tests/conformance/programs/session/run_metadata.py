import tensorflow as tf, numpy as np

v1 = tf.compat.v1


def attempt(label, function):
    try:
        print(label, '->', function())
    except Exception as error:
        print(label, '!!', type(error).__name__, '|', str(error).split('\n')[0])


with tf.Graph().as_default(), v1.Session() as sess:
    a = tf.constant(1., name='a')
    p = v1.placeholder(tf.float32, [], name='p')
    b = v1.py_func(lambda x: x * 2, [p], tf.float32, name='called')
    metadata = v1.RunMetadata()
    sess.run([a, b], {p: 3.}, options=v1.RunOptions(trace_level=v1.RunOptions.FULL_TRACE), run_metadata=metadata)
    devices = [d.device for d in metadata.step_stats.dev_stats]
    print([d for d in devices if d.endswith('CPU:0')])
    nodes = [n for d in metadata.step_stats.dev_stats for n in d.node_stats]
    called = [n for n in nodes if n.node_name == 'called'][0]
    print(called.all_start_micros > 0, called.op_end_rel_micros >= called.op_start_rel_micros >= 0,
          called.all_end_rel_micros >= called.op_end_rel_micros)
    empty = v1.RunMetadata()
    sess.run(b, {p: 3.}, run_metadata=empty)
    print(len(empty.step_stats.dev_stats))
    attempt('options', lambda: sess.run(a, options=3))
    attempt('metadata', lambda: sess.run(a, run_metadata=3))

import tensorflow as tf, numpy as np

v1 = tf.compat.v1


def attempt(label, function):
    try:
        print(label, '->', function())
    except Exception as error:
        print(label, '!!', type(error).__name__, '|', str(error).split('\n')[0])


with tf.Graph().as_default(), v1.Session() as sess:
    p = v1.placeholder(tf.float32, [], name='p')
    f = sess.make_callable(p * 2., [p], accept_options=True)
    metadata = v1.RunMetadata()
    print(f(3., options=v1.RunOptions(trace_level=v1.RunOptions.FULL_TRACE), run_metadata=metadata))
    print(len(metadata.step_stats.dev_stats) > 0)
    plain = sess.make_callable(p * 2., [p])
    attempt('options', lambda: plain(3., options=None))

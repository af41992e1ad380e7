import tensorflow as tf, numpy as np

v1 = tf.compat.v1


def attempt(label, function):
    try:
        print(label, '->', function())
    except Exception as error:
        print(label, '!!', type(error).__name__, '|', str(error).split('\n')[0])


config = v1.ConfigProto(inter_op_parallelism_threads=2, allow_soft_placement=True)
print(config.inter_op_parallelism_threads, config.intra_op_parallelism_threads, config.allow_soft_placement)
config.gpu_options.allow_growth = True
print(config)
options = v1.RunOptions(trace_level=v1.RunOptions.FULL_TRACE, timeout_in_ms=5)
print(options)
print(v1.RunOptions.NO_TRACE, v1.RunOptions.SOFTWARE_TRACE, v1.RunOptions.HARDWARE_TRACE, v1.RunOptions.FULL_TRACE)
attempt('unknown', lambda: v1.ConfigProto(nope=1))
attempt('type', lambda: v1.ConfigProto(inter_op_parallelism_threads='x'))


def set_unknown():
    config.nope = 1


attempt('set', set_unknown)
again = v1.ConfigProto()
again.ParseFromString(config.SerializeToString())
print(again == config)
print(v1.GraphOptions().optimizer_options.opt_level, v1.OptimizerOptions.L0)

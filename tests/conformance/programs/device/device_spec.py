import tensorflow as tf, numpy as np

def T(label, f):
    try:
        print(label, '->', f())
    except Exception as error:
        print(label, '!!', type(error).__name__, '|', (str(error).splitlines() or [''])[0])

v1 = tf.compat.v1
for S, label in ((tf.DeviceSpec, 'v2'), (v1.DeviceSpec, 'v1')):
    s = S(job='ps', device_type='cpu', device_index=0)
    T(label, lambda: (s.to_string(), s.job, s.replica, s.task, s.device_type, s.device_index))
    T(label, lambda: S.from_string('/job:worker/replica:0/task:1/device:GPU:2').to_string())
    T(label, lambda: S.from_string('/gpu:*').to_string())
    T(label, lambda: S.from_string('/cpu').to_string())
    T(label, lambda: S().to_string() + '|')
    T(label, lambda: S.from_string('foo'))
    T(label, lambda: S.from_string('/cpu:0/gpu:1'))
    T(label, lambda: S(job='a') == S(job='a'))
    T(label, lambda: S(job='a') == S(job='b'))
    T(label, lambda: S(task='3').task)
    T(label, lambda: S(job=3).job)
    T(label, lambda: S(task='x').task)
    T(label, lambda: len({S(job='a'), S(job='a')}))
    with v1.Graph().as_default():
        with v1.device(s):
            print(label, tf.no_op().device)
        with v1.device('/job:other/task:4'), v1.device(s):
            print(label, tf.no_op().device)
d = tf.DeviceSpec.from_string('/job:a/cpu:0')
print(d.replace(task=2).to_string(), d.make_merged_spec(tf.DeviceSpec(job='b', task=1)).to_string(), d.to_string())
T('bad replace', lambda: d.replace(foo=2))
T('set v2', lambda: setattr(d, 'job', 'x'))
m = v1.DeviceSpec.from_string('/job:a/cpu:0')
m.merge_from(v1.DeviceSpec(job='b', task=1))
m.device_index = 3
print(m.to_string(), m.parse_from_string('/task:7').to_string())

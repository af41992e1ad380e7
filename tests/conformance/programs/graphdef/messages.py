import tensorflow as tf, numpy as np

v1 = tf.compat.v1
m = v1.GraphDef()
n = m.node.add()
n.name, n.op, n.device = 'a', 'Const', '/cpu:0'
n.attr['dtype'].type = tf.float32.as_datatype_enum
n.attr['value'].tensor.CopyFrom(tf.make_tensor_proto([1., 2.]))
n.attr['flag'].b = True
n.attr['list'].list.i.extend([1, 2, 3])
n.attr['s'].s = b'x'
print(m)
c = v1.GraphDef()
c.CopyFrom(m)
c.MergeFrom(m)
print(len(c.node), c == m, m == v1.GraphDef.FromString(m.SerializeToString()), len(m.SerializeToString()))
print(n.attr['flag'].WhichOneof('value'), 'flag' in n.attr, 'zz' in n.attr, sorted(n.attr), n.HasField('experimental_debug_info'))
print(tf.make_ndarray(n.attr['value'].tensor), [f.name for f, _ in n.ListFields()])
m.ClearField('node')
print(repr(str(m)), len(m.node))
for value in (1, 2.5, 'text', [1, 2], [[1., 2.], [3., 4.]], [True], ['a', 'b'], np.int64(3), np.zeros((2, 0)), 1j, np.float16(2), [], b'x', np.arange(3, dtype=np.uint8)):
    p = tf.make_tensor_proto(value)
    print(str(p).replace('\n', ' '), tf.make_ndarray(p).tolist())
print(str(tf.make_tensor_proto(5, tf.int64, [2, 2])).replace('\n', ' '), tf.make_ndarray(tf.make_tensor_proto(5, tf.int64, [2, 2])).tolist())
a = v1.AttrValue(i=3)
print(str(a).strip(), a.i, a.f, a.s)
print(v1.NodeDef(name='x', op='NoOp', input=['^y']))

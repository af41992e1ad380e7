import tensorflow as tf, numpy as np

v1 = tf.compat.v1
import os
import tempfile
from google.protobuf import text_format

with v1.Graph().as_default() as g:
    x = v1.placeholder(tf.float32, [], name='x')
    y = tf.add(x, 2., name='y')
    z = tf.identity(y, name='z')
    w = x * 3.
folder = tempfile.mkdtemp()
path = tf.io.write_graph(g, folder, 'graph.pbtxt')
print(os.path.basename(path), open(path).read() == str(g.as_graph_def()))
path = v1.train.write_graph(g.as_graph_def(), os.path.join(folder, 'new', 'folder'), 'graph.pb', as_text=False)
message = v1.GraphDef()
message.ParseFromString(open(path, 'rb').read())
print(message == g.as_graph_def())
parsed = text_format.Parse(open(os.path.join(folder, 'graph.pbtxt')).read(), v1.GraphDef())
print(parsed == message)
part = v1.graph_util.extract_sub_graph(message, ['y'])
print([n.name for n in part.node])
part = v1.graph_util.remove_training_nodes(message)
print([(n.name, list(n.input)) for n in part.node])
for bad in ('node { name: "a" ', 'node { nam: "a" }', 'node: 5', 'node { name: 5 }', '}', 'node { name: "a }', 'versions { producer: "x" }'):
    try:
        print(text_format.Parse(bad, v1.GraphDef()))
    except text_format.ParseError as error:
        print(error)

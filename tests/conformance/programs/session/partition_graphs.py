import tensorflow as tf, numpy as np

v1 = tf.compat.v1
with tf.Graph().as_default(), v1.Session() as sess:
    x = v1.placeholder(tf.float32, [2], name='x')
    a = v1.placeholder(tf.float32, [2], name='scope/a')
    y = tf.tanh(x, name='y')
    parts = tf.split(a, 2, name='parts')
    z = tf.add(y, y, name='z')
    feeds = {x: np.float32([1, 2]), a: np.float32([3, 4])}
    metadata = v1.RunMetadata()
    sess.run(z, feeds, run_metadata=metadata)
    print(len(metadata.partition_graphs))
    sess.run(z, feeds, v1.RunOptions(trace_level=v1.RunOptions.FULL_TRACE), metadata)
    print(len(metadata.partition_graphs))
    for fetches in (z, [z, y]):
        sess.run(fetches, feeds, v1.RunOptions(output_partition_graphs=True), metadata)
        for graph in metadata.partition_graphs:
            for node in sorted(graph.node, key=lambda node: node.name):
                attrs = {name: value.i or value.type for name, value in node.attr.items() if name in ('index', 'T')}
                print(node.name, node.op, list(node.input), node.device, sorted(attrs.items()))
            print(len(graph.library.function), graph.versions.producer > 0)
    sess.run([parts[1], y], feeds, v1.RunOptions(output_partition_graphs=True), metadata)
    print(sorted(node.name for node in metadata.partition_graphs[0].node if node.op in ('_Arg', '_Retval')))
    try:
        sess.run(z, {x: np.zeros(3)}, v1.RunOptions(output_partition_graphs=True), metadata)
    except ValueError:
        print('error')

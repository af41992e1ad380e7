import tensorflow as tf, numpy as np

v1 = tf.compat.v1


def T(label, f):
    try:
        print(label, '->', f())
    except Exception as error:
        print(label, '!!', type(error).__name__, '|', (str(error).splitlines() or [''])[0])


from google.protobuf import text_format


def imported(text, *args, **kwargs):
    message = text_format.Parse(text, v1.GraphDef())
    with v1.Graph().as_default() as g:
        try:
            return [getattr(r, 'name', r) for r in tf.import_graph_def(message, *args, **kwargs) or []]
        finally:
            print([op.name for op in g.get_operations()])


C = ('node { name: "c" op: "Const" attr { key: "dtype" value { type: DT_FLOAT } } '
     'attr { key: "value" value { tensor { dtype: DT_FLOAT tensor_shape { } float_val: 2 } } } } ')
F = 'attr { key: "T" value { type: DT_FLOAT } } } '
I = 'node { name: "i" op: "Identity" input: "%s" ' + F
CASES = {
    'fine': C + I % 'c', 'any order': I % 'c' + C, 'unknown input': I % 'zz', 'no such output': C + I % 'c:3', 'no number': C + I % 'c:x',
    'empty input': C + I % '', 'only control': C + I % '^c', 'itself': I % 'i',
    'circle': 'node { name: "a" op: "Identity" input: "b" ' + F + 'node { name: "b" op: "Identity" input: "a" ' + F,
    'control circle': 'node { name: "a" op: "NoOp" input: "^b" } node { name: "b" op: "NoOp" input: "^a" }', 'no op': 'node { name: "a" }',
    'no name': 'node { op: "NoOp" }', 'bad name': 'node { name: "a b" op: "NoOp" }', 'private name': 'node { name: "_a" op: "NoOp" }', 'twice': C + C,
    'no T': C + 'node { name: "i" op: "Identity" input: "c" }', 'no value': 'node { name: "c" op: "Const" attr { key: "dtype" value { type: DT_FLOAT } } }',
    'T is int': C + 'node { name: "i" op: "Identity" input: "c" attr { key: "T" value { i: 1 } } }',
    'T is nothing': C + 'node { name: "i" op: "Identity" input: "c" attr { key: "T" value { type: DT_INVALID } } }',
    'T is another': C + 'node { name: "i" op: "Identity" input: "c" attr { key: "T" value { type: DT_INT32 } } }',
    'more attrs': C + 'node { name: "i" op: "Identity" input: "c" attr { key: "foo" value { i: 1 } } ' + F,
    'two inputs': C + 'node { name: "i" op: "Identity" input: "c" input: "c" ' + F, 'no input': C + 'node { name: "i" op: "Identity" ' + F,
    'control first': C + 'node { name: "i" op: "Identity" input: "^c" input: "c" ' + F,
    'bad group': 'node { name: "a" op: "NoOp" attr { key: "_class" value { list { s: "loc:@zz" } } } }',
    'newer': 'versions { producer: 9999 min_consumer: 9998 }', 'older': 'versions { producer: -1 }', 'refused': 'versions { bad_consumers: 2474 }', 'empty': '',
}
for label, text in CASES.items():
    T(label, lambda: imported(text))
for element in ('zz', 'zz:0', 'c:7', 'c:x', '^c', 'c', 'c:0', 1):
    T(element, lambda: imported(C, return_elements=[element]))
T('text', lambda: imported(C, return_elements='c'))
T('map is text', lambda: imported(C, input_map='c'))
T('number', lambda: tf.import_graph_def(5))
T('None', lambda: tf.import_graph_def(None))
T('name', lambda: imported(C, name='a b'))
T('scope', lambda: imported(C, name='a/', return_elements=['c']))
T('nested', lambda: imported(C, name='a/b', return_elements=['c']))


def mapped(key, value, text=C + I % 'c', **kwargs):
    message = text_format.Parse(text, v1.GraphDef())
    with v1.Graph().as_default() as g:
        return tf.import_graph_def(message, {key: value() if callable(value) else value}, ['i'], **kwargs)[0].inputs[0].name


T('map', lambda: mapped('c:0', lambda: tf.constant(5., name='five')))
T('map by name', lambda: mapped('c', lambda: tf.constant(5., name='five')))
T('map to number', lambda: mapped('c', 5.))
T('map to number, no name', lambda: mapped('c', 5., name=''))
T('map what is not', lambda: mapped('zz', lambda: tf.constant(5.)))
T('map other dtype', lambda: mapped('c:0', lambda: tf.constant(5)))
T('map what is missing', lambda: mapped('zz:0', lambda: tf.constant(5., name='five'), I % 'zz'))
T('map number', lambda: mapped(1, lambda: tf.constant(5.)))

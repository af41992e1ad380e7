"""Expressions whose value must be the same with TensorFlow and with pyfuncdbg, over `tf`, `np` and what `probe` has."""

import counting_snippets
import image_snippets
import linalg_snippets
import random_snippets
import raw_snippets
import segment_snippets
import special_snippets
import text_snippets

C = 'tf.constant'
_EDGES = '[-2.5, -1., -0., 0., 0.5, 1., 3., np.inf, -np.inf, np.nan]'
_UNARY = ('abs negative sign square sqrt math.rsqrt math.reciprocal exp math.expm1 math.log math.log1p sin cos tan sinh '
          'cosh tanh '
          'asin acos atan asinh acosh atanh sigmoid math.softplus nn.relu nn.relu6 nn.elu nn.selu nn.leaky_relu math.floor '
          'math.ceil '
          'round math.rint math.erf math.erfc math.is_nan math.is_inf math.is_finite zeros_like ones_like').split()
_BINARY = ('add subtract multiply divide math.floordiv math.floormod pow maximum minimum math.squared_difference '
           'math.divide_no_nan '
           'math.multiply_no_nan equal not_equal less less_equal greater greater_equal atan2 math.xlogy math.xdivy').split()
_REDUCE = ('reduce_sum reduce_mean reduce_prod reduce_max reduce_min math.reduce_std math.reduce_variance '
           'reduce_logsumexp').split()

unary = [f'tf.{f}({C}({_EDGES}))' for f in _UNARY]
unary += [f'tf.{f}({C}(0.5))' for f in _UNARY]
unary += [f'tf.{f}({C}([0.5, 1.5], tf.float16))' for f in ('exp', 'sigmoid', 'tanh', 'nn.relu', 'math.rsqrt')]
unary += [f'tf.{f}({C}([0.5+1j, -1-2j]))' for f in ('abs', 'negative', 'square', 'exp', 'math.log', 'sqrt', 'math.conj',
                                                    'math.real',
                                                   'math.imag', 'math.angle', 'sin', 'tanh')]
unary += [f'tf.{f}({C}([-3, 0, 4]))' for f in ('abs', 'negative', 'sign', 'square', 'round', 'nn.relu', 'zeros_like')]
unary += ['tf.logical_not([True, False])', 'tf.bitwise.invert(tf.constant([0, 5]))', 'tf.math.angle([-1., 2.])']

binary = [f'tf.{f.replace("math.divide_no_nan", "math.divide_no_nan")}({C}([7., -7., 0., 1., np.inf, np.nan]), {C}([2., '
          f'2., 0., 0., 2., 1.]))'
          for f in _BINARY]
binary += [f'tf.{f}({C}([[1., 2., 3.]]), {C}([[4.], [5.]]))' for f in _BINARY]
binary += [f'tf.{f}({C}([7, -7, 5]), {C}([2, 2, -3]))' for f in _BINARY[:9] if f != 'pow']
binary += [f'{C}([100, 100], tf.int8) + {C}([100, 27], tf.int8)', f'{C}(2**31 - 1) + 1', f'{C}([2, 3]) ** {C}([3, 2])',
           f'{C}(1) / {C}(2)', f'{C}(1, tf.int8) / {C}(2, tf.int8)', f'{C}(5.) // 0.', f'{C}(5) // 0', f'{C}(5) % 0',
           f'{C}(2) ** -1', f'2. - {C}([1., 2.])', f'1. / {C}([0., 2.])', f'2 ** {C}([1., 2.])', f'7 % {C}([4, 5])',
           f'-{C}(1.)',
           f'abs({C}(-1.))', f'{C}("a") + "b"', f'{C}([True]) & {C}([False])', f'{C}([True]) ^ {C}([False])',
           f'~{C}([True])',
           f'{C}([6, 5]) & {C}([3, 3])', f'{C}([1., 2.]) + {C}([1., 2., 3.])', f'{C}(1.) + {C}(1)', f'{C}(1) + 1.5',
           f'tf.add_n([{C}([1., 2.])] * 3)', 'tf.complex(1., 2.)', 'tf.logical_and([True, False], True)',
           'tf.math.logical_xor([True, False], [True, True])', f'{C}(["a", "b"]) == "a"',
           'tf.where([True, False], 1., [2., 3.])',
           'tf.where([[True, False], [True, True]])', 'tf.where([True, False], [1., 2., 3.], [1., 2., 3.])',
           'tf.clip_by_value([-1., 0.5, 2.], 0., 1.)', 'tf.math.divide_no_nan([1., 0.], [0., 0.])',
           'tf.bitwise.left_shift([1, 2], [3, 1])', 'tf.truncatediv([7, -7], [2, 2])', 'tf.truncatemod([7, -7], [2, 2])']

casts = [f'tf.cast({C}([{v}]), tf.{d})' for v in ('-1.7, 2.5, 300.', '-1, 0, 3', '1+2j') for d in
         ('float16', 'float32', 'float64', 'int8', 'int32', 'int64', 'bool', 'complex64', 'uint8')
         if not (v[0] == '-' and d == 'uint8')]
casts += ['tf.cast([300.], tf.uint8)', 'tf.saturate_cast([300., -5.], tf.uint8)', 'tf.cast([0., np.nan, -0.], tf.bool)']

reductions = [f'tf.{f}({C}([[1., 2.], [3., 4.], [5., 0.]]){a})' for f in _REDUCE for a in
              ('', ', 0', ', -1, keepdims=True', ', [0, 1]', ', []')]
reductions += [f'tf.{f}({C}({v}))' for f in _REDUCE[:5] for v in ('[[1, 2], [3, -4]]', '[np.nan, 1.]', '[np.inf, -np.inf]',
                                                                  '3.')]
reductions += [f'tf.{f}(tf.zeros([0, 2]), 0)' for f in _REDUCE[:5]] + [f'tf.{f}(tf.zeros([0], tf.int32))'
                                                                       for f in _REDUCE[:5]]
reductions += ['tf.reduce_all([[True, False], [True, True]], 1)', 'tf.reduce_any([[True, False], [False, False]], 1)',
               'tf.reduce_sum([1., 2.], 3)', 'tf.reduce_sum([[1., 2.]], [0, 0])',
               'tf.math.count_nonzero([[0, 1], [2, 3]], 0)',
               'tf.argmax([[1., 5., 5.], [2., 0., np.nan]], 1)', 'tf.argmin([3, 1, 2])',
               'tf.argmax([[1, 2], [3, 0]], output_type=tf.int32)',
               'tf.cumsum([1., 2., 3.])', 'tf.cumsum([[1, 2], [3, 4]], 1, exclusive=True)',
               'tf.cumsum([1, 2, 3], reverse=True)',
               'tf.math.cumprod([1., 2., 3.], exclusive=True, reverse=True)', 'tf.reduce_logsumexp([1000., 1000.])',
               'tf.reduce_logsumexp([-np.inf, -np.inf])', 'tf.norm([[3., 4.], [6., 8.]], axis=1)', 'tf.norm([3., -4.], 1)',
               'tf.norm([3., -4.], np.inf)', 'tf.norm([[3., 4.]])', 'tf.nn.l2_loss([3., 4.])',
               'tf.math.reduce_euclidean_norm([3., 4.])']

_A, _B = f'{C}([[1., 2., 3.], [4., 5., 6.]])', f'{C}([[1., 0.], [2., 1.], [0., 3.]])'
products = [f'{_A} @ {_B}', f'tf.matmul({_A}, {_A}, transpose_b=True)', f'tf.matmul({_A}, {_A}, transpose_a=True)',
            f'tf.matmul({_A}, {_A})', 'tf.matmul([1., 2.], [[1.]])', 'tf.matmul(tf.ones([2, 1, 2, 3]), tf.ones([4, 3, 2]))',
            'tf.matmul(tf.ones([5, 2, 3]), tf.ones([4, 3, 3]))', 'tf.matmul([[1, 2]], [[3], [4]])',
            'tf.matmul([[1+1j]], [[2j]], adjoint_a=True)', f'tf.tensordot({_A}, {_B}, 1)',
            f'tf.tensordot({_A}, {_A}, [[0, 1], [0, 1]])',
            f'tf.tensordot({_A}, {_B}, 0)', f'tf.linalg.matvec({_A}, [1., 2., 3.])', f'tf.linalg.matrix_transpose({_A})']

_X = 'tf.reshape(tf.range(24), [2, 3, 4])'
arrays = [f'{_X}[{i}]' for i in ('0', '-1', '1, 2', '..., 0', ':, 1', '::-1', '1:, ::2', 'tf.newaxis',
                                 '..., tf.newaxis, 1:3', '0, ...',
                                ':, :, -1', '5', '0, 0, 0, 0', '1.5', 'tf.constant(1)', ':, tf.constant(1):', '0:0',
                                 '1:0:-1, -2:')]
arrays += [f'tf.reshape({_X}, {s})' for s in ('[-1]', '[4, 6]', '[3, -1]', '[5, 5]', '[5, -1]', '[-1, -1]', '[]')]
arrays += [f'tf.transpose({_X}{p})' for p in ('', ', [1, 0, 2]', ', [0, 0, 1]')]
arrays += ['tf.shape(tf.ones([2, 3]))', 'tf.size(tf.ones([2, 3]))', 'tf.rank(tf.ones([2, 3]))', 'tf.expand_dims([1, 2], -1)',
           'tf.expand_dims([1, 2], 3)', 'tf.squeeze([[[1], [2]]])', 'tf.squeeze([[[1], [2]]], 0)', 'tf.squeeze([[1, 2]], 1)',
           'tf.concat([[[1, 2]], [[3, 4]]], 0)', 'tf.concat([[[1, 2]], [[3, 4]]], -1)',
           'tf.concat([tf.ones([2, 3]), tf.ones([2, 4])], 0)',
           'tf.concat([tf.ones([2, 3]), tf.ones([2])], 0)', 'tf.stack([[1, 2], [3, 4]], 1)',
           'tf.stack([tf.ones([2]), tf.ones([3])])',
           'tf.stack(["a", "b"])', 'tf.unstack([[1, 2], [3, 4]])', 'tf.unstack([[1, 2, 3]], axis=1)',
           'tf.split([1, 2, 3, 4], 2)',
           'tf.split([1, 2, 3, 4], [1, -1])', 'tf.split(tf.ones([5]), 2)', 'tf.tile([[1, 2]], [2, 2])',
           'tf.tile([1., 2.], [1, 2])',
           'tf.pad([[1, 2]], [[1, 0], [0, 2]])', 'tf.pad([1, 2, 3], [[2, 1]], "REFLECT")',
           'tf.pad([1, 2, 3], [[2, 1]], "SYMMETRIC")',
           'tf.pad([1., 2.], [[1, 1]], constant_values=9.)', 'tf.reverse([[1, 2], [3, 4]], [1])', 'tf.fill([2, 2], 7.)',
           'tf.fill([], 7)',
           'tf.fill([-1], 1.)', 'tf.zeros([0, 2])', 'tf.ones([2], tf.int64)', 'tf.zeros([2], tf.string)', 'tf.eye(2, 3)',
           'tf.eye(2, batch_shape=[2])', 'tf.one_hot([0, 2, -1], 3)', 'tf.one_hot([0, 1], 2, axis=0, dtype=tf.int32)',
           'tf.one_hot([1], 2, 5., -5.)', 'tf.range(5)', 'tf.range(1, 2, 0.25)', 'tf.range(5, 0, -2)', 'tf.range(1, 5, 0)',
           'tf.range(3, dtype=tf.int64)', 'tf.linspace(0., 1., 3)', 'tf.linspace(0, 10, 5)',
           'tf.broadcast_to([1, 2], [2, 2])',
           'tf.broadcast_to([1., 2.], [3])', 'tf.slice([[1, 2, 3], [4, 5, 6]], [0, 1], [2, -1])',
           'tf.slice([1, 2, 3], [2], [3])',
           'tf.gather([10, 20, 30], [2, 0])', 'tf.gather([[1, 2], [3, 4]], [1], axis=1)', 'tf.gather([1., 2.], [5])',
           'tf.gather([[1, 2, 3], [4, 5, 6]], [[0, 2], [1, 1]], batch_dims=1)', 'tf.gather([[1, 2], [3, 4]], 1)',
           'tf.gather(tf.reshape(tf.range(24), [2, 3, 4]), [[0, 2], [1, 1]], axis=2, batch_dims=1)',
           'tf.gather_nd([[1, 2], [3, 4]], [[0, 1], [1, 0]])', 'tf.gather_nd([[1, 2], [3, 4]], [[1]])',
           'tf.gather_nd([1., 2.], [[5]])',
           'tf.gather_nd([[1, 2], [3, 4]], [[1], [0]], batch_dims=1)', 'tf.scatter_nd([[1], [3], [1]], [9, 8, 7], [5])',
           'tf.tensor_scatter_nd_update([1, 2, 3], [[0], [2]], [9, 8])',
           'tf.tensor_scatter_nd_add([1, 2, 3], [[0], [0]], [9, 8])',
           'tf.boolean_mask([[1, 2], [3, 4]], [True, False])', 'tf.boolean_mask([[1, 2], [3, 4]], [[True, False], [False, '
                                                               'True]])',
           'tf.unique([3, 1, 3, 2])', 'tf.unique_with_counts(["b", "a", "b"])', 'tf.math.top_k([1., 3., 3., 2.], 3)',
           'tf.math.top_k([1., 2.], 3)',
           'tf.sort([3, 1, 2])', 'tf.sort([[3., 1.], [0., 2.]], axis=0, direction="DESCENDING")',
           'tf.argsort([3, 1, 2, 1], stable=True)',
           'tf.sequence_mask([1, 3, 2])', 'tf.sequence_mask([1, 3], 4, tf.int32)', 'tf.meshgrid([1, 2, 3], [4, 5])',
           'tf.meshgrid([1, 2, 3], [4, 5], indexing="ij")', 'tf.ensure_shape(tf.ones([2, 3]), [None, 4])',
           'tf.identity([1, 2])',
           'tf.dynamic_stitch([[0, 2], [1]], [[1., 3.], [2.]])']

nn = ['tf.nn.softmax([[1., 2.], [1000., 0.]])', 'tf.nn.softmax([[1., 2.], [3., 5.]], axis=0)',
      'tf.nn.log_softmax([1., 2., 3.])',
      'tf.nn.softmax_cross_entropy_with_logits([[0., 1.], [0.5, 0.5]], [[1., 2.], [3., 1.]])',
      'tf.nn.softmax_cross_entropy_with_logits([[0., 1.]], [[0., -np.inf]])',
      'tf.nn.sparse_softmax_cross_entropy_with_logits([1, 0], [[1., 2.], [3., 1.]])',
      'tf.nn.sparse_softmax_cross_entropy_with_logits([5], [[1., 2.]])',
      'tf.nn.sigmoid_cross_entropy_with_logits([0., 1., 0.5], [-100., 100., 0.])', 'tf.nn.bias_add([[1., 2.]], [10., 20.])',
      'tf.nn.moments(tf.constant([[1., 2.], [3., 4.]]), [0])', 'tf.nn.l2_normalize([3., 4.])',
      'tf.nn.dropout([1., 2.], 0.)', 'tf.nn.gelu([-1., 1.])',
      'tf.nn.gelu([-1., 1.], True)', 'tf.nn.silu([1., -1.])', 'tf.math.zero_fraction([0., 1.])']

strings = ['tf.as_string([1.5, -2., np.inf])', 'tf.as_string([True])', 'tf.as_string([3], width=4, fill="0")',
           'tf.as_string(1.5, precision=2)',
           'tf.as_string(1+2j)', 'tf.as_string(1.5, shortest=True)', 'tf.strings.join(["a", ["b", "c"]], "-")',
           'tf.strings.length(["ab", ""])',
           'tf.strings.length("é", "UTF8_CHAR")', 'tf.strings.upper("aé")', 'tf.strings.lower("AÉ", "utf-8")',
           'tf.strings.strip(" a ")',
           'tf.strings.substr("hello", -3, 2)', 'tf.strings.substr("hello", 9, 2)', 'tf.strings.to_number(["1.5", "-2"])',
           'tf.strings.to_number("x")', 'tf.strings.reduce_join(["a", "b"], separator=",")',
           'tf.strings.format("a {} b {}", (tf.constant([1, 2]), "x"))', 'tf.strings.format("{}", tf.range(20))',
           'tf.strings.format("{}", tf.constant([[1e6, 1.5], [123456789., 1e-5]]))']

checks = ['tf.debugging.check_numerics([np.nan, np.inf], "msg")', 'tf.debugging.check_numerics([1.], "msg")',
          'tf.debugging.assert_equal([1, 2], [1, 3], message="hey")', 'tf.debugging.assert_less([1, 2], [1, 3])',
          'tf.debugging.assert_equal([1], [1])', 'tf.Assert(tf.constant(False), [tf.constant([1, 2]), "x"])',
          'tf.debugging.assert_positive(tf.constant([1, -2]), message="m")', 'tf.debugging.assert_rank(tf.ones([2]), 2)',
          'tf.sin(tf.constant(1))', 'tf.nn.softmax(tf.constant([1, 2]))', 'tf.constant(True) + tf.constant(True)']

_P = '[None, 3]'
nodes = [f'node(lambda p: tf.{f}(p), {_P})' for f in
         'abs negative sin sigmoid nn.relu nn.softmax square math.log round reduce_sum reduce_mean reduce_max shape size '
         'rank zeros_like '
         'ones_like identity stop_gradient transpose reduce_logsumexp math.reduce_std argmax cumsum nn.l2_loss norm '
         'squeeze'.split()]
nodes += [f'node(lambda p: tf.{f}(p, 2.), {_P})' for f in
          'add subtract multiply divide pow maximum equal less math.floormod'.split()]
nodes += [f'node(lambda p: {e}, {_P})' for e in
          ('p + 1', '1 - p', 'p * p', 'p / 2', 'p // 2', 'p % 2', 'p ** 2', 'p > 1', '-p', 'abs(p)', 'p[0]', 'p[1:, 0]',
           'p[:, 1:]',
           'p[..., None]', 'p[tf.newaxis]', 'p @ tf.transpose(p)', 'tf.matmul(p, p, transpose_b=True)',
           'tf.reshape(p, [-1])',
           'tf.reshape(p, [-1, 1])', 'tf.reshape(p, [tf.shape(p)[0], 1, 3])', 'tf.reduce_sum(p, 1)',
           'tf.reduce_mean(p, 0, keepdims=True)',
           'tf.concat([p, p], 1)', 'tf.concat([p, p], 0)', 'tf.stack([p, p])', 'tf.unstack(p, axis=1)', 'tf.split(p, 3, 1)',
           'tf.expand_dims(p, 1)', 'tf.tile(p, [2, 2])', 'tf.pad(p, [[1, 1], [0, 2]])', 'tf.gather(p, [0, 1])',
           'tf.gather(p, [0, 1], axis=1)',
           'tf.cast(p, tf.int32)', 'tf.where(p > 0, p, 0.)', 'tf.where(p > 0)', 'tf.clip_by_value(p, 0., 1.)',
           'tf.one_hot([0, 1], 3)',
           'tf.add_n([p, p])', 'tf.range(5)', 'tf.fill([2, 3], 1.)', 'tf.zeros([2])', 'tf.broadcast_to(p, [4, 3])',
           'tf.nn.bias_add(p, [1., 2., 3.])', 'tf.tensordot(p, tf.ones([3, 2]), 1)', 'tf.math.top_k(p, 2)',
           'tf.boolean_mask(p, p[:, 0] > 0)',
           'tf.nn.softmax_cross_entropy_with_logits(p, p)', 'tf.nn.moments(p, 0)', 'tf.ensure_shape(p, [4, 3])',
           'tf.random.uniform([2])', 'tf.random.normal([2])', 'tf.nn.dropout(p, 0.5)', 'tf.debugging.check_numerics(p, "m")',
           'p + tf.ones([4])', 'tf.matmul(p, p)', 'tf.reshape(p, [2, 2, 2])', 'tf.sin(tf.cast(p, tf.int32))',
           'p + tf.cast(p, tf.int32)',
           'p[:, 5]', 'tf.reduce_sum(p, 3)', 'tf.concat([p, tf.ones([2])], 0)', 'tf.squeeze(p, 1)', 'tf.logical_and(p, p)',
           'p + "a"',
           'tf.split(p, 2, 1)', 'tf.expand_dims(p, 4)', 'tf.stack([p, tf.ones([2, 4])])')]

gradients = [f'grad(lambda x: tf.{f}(x), {v})' for f, v in
             [(f, '[0.3, 0.7]') for f in _UNARY[:-8] if f not in ('acosh', 'math.acosh')] + [('acosh', '[1.5, 2.]')]]
gradients += [f'grad(lambda x: tf.{f}(x), [0.])' for f in ('sqrt', 'abs', 'nn.relu', 'norm', 'math.reciprocal', 'nn.elu',
                                                           'nn.softplus')]
gradients += [f'grad(lambda x, y: tf.{f}(x, y), [[1., 2.]], [[3.], [0.5]])' for f in _BINARY if f not in (
    'equal', 'not_equal', 'less', 'less_equal', 'greater', 'greater_equal')]
gradients += [f'grad(lambda x: tf.{f}(x{a}), [[1., 2.], [0., 4.]])' for f in _REDUCE for a in ('', ', 1')]
gradients += [f'grad(lambda x: {e}, [[1., 2., 3.], [4., 5., 6.]])' for e in
              ('x @ tf.transpose(x)', 'tf.matmul(x, x, transpose_a=True)', 'x[0]', 'x[:, ::-2]', 'x[..., None, 1:]',
               'tf.gather(x, [1, 1, 0])',
               'tf.gather(x, [2, 2], axis=1)', 'tf.gather_nd(x, [[0, 1], [0, 1]])', 'tf.concat([x, x * 2], 1) ** 2',
               'tf.stack([x, 2 * x]) ** 2',
               'tf.unstack(x)[1]', 'tf.split(x, 3, 1)[1]', 'tf.tile(x, [2, 3])', 'tf.pad(x, [[1, 0], [0, 1]]) * 3',
               'tf.pad(x, [[1, 1], [2, 2]], "REFLECT")',
               'tf.reverse(x, [0]) * [[1.], [2.]]', 'tf.cumsum(x, 1)', 'tf.math.cumprod(x, 1)', 'tf.nn.softmax(x) ** 2',
               'tf.nn.log_softmax(x) ** 2',
               'tf.nn.bias_add(x, [1., 2., 3.])', 'tf.where(x > 3, x, 0.)', 'tf.clip_by_value(x, 2., 5.)',
               'tf.math.top_k(x, 2)[0]',
               'tf.sort(x, direction="DESCENDING")[:, :1]', 'tf.boolean_mask(x, [True, False])',
               'tf.slice(x, [0, 1], [2, 1])',
               'tf.broadcast_to(x, [2, 2, 3])', 'tf.expand_dims(x, 1) ** 2', 'tf.tensordot(x, x, [[1], [1]])',
               'tf.norm(x, axis=1)',
               'tf.nn.l2_loss(x)', 'tf.nn.moments(x, [0])[1]', 'tf.cast(tf.cast(x, tf.float64) ** 2, tf.float32)',
               'tf.stop_gradient(x) * x',
               'tf.add_n([x, x, x * x])', 'tf.scatter_nd([[1], [1]], x, [3, 3]) ** 2',
               'tf.tensor_scatter_nd_update(x, [[0]], [[9., 9., 9.]])',
               'tf.nn.softmax_cross_entropy_with_logits([[0., 1., 0.], [1., 0., 0.]], x)',
               'tf.nn.sparse_softmax_cross_entropy_with_logits([1, 0], x)',
               'tf.nn.sigmoid_cross_entropy_with_logits(tf.ones([2, 3]), x)',
               'tf.argmax(x)', 'tf.math.floor(x)', 'x ** 0.', '(x - 1.) ** 2', '(x - 2.) ** 0.5', 'tf.maximum(x, 3.)',
               'tf.math.divide_no_nan(x, x - 1.)', 'tf.reduce_sum(x) / tf.cast(tf.size(x), tf.float32)')]
gradients += [f'grad(lambda x: {e}, [1., 2.5])' for e in
              ('tf.math.nextafter(x * x, 5.)', 'tf.math.nextafter([0., 1.], x)', 'tf.truncatemod(x, 2.)',
               'tf.truncatediv(x, 2.)', 'tf.math.bincount([0, 1], weights=x)', 'tf.raw_ops.GuaranteeConst(input=x)',
               'tf.bitcast(tf.bitcast(x, tf.int32), tf.float32)', 'tf.grad_pass_through(tf.floor)(x * x)',
               'tf.function(lambda: tf.gather(x, [0, 0, 1]) * 2.)()', 'tf.function(lambda: tf.gather(x, [0]))() * x[1]',
               'tf.function(lambda: tf.cond(x[0] > 0., lambda: tf.gather(x, [1, 1]), lambda: x))()',
               'tf.function(lambda: tf.while_loop(lambda i, a: i < 2, lambda i, a: (i + 1, a * x), [0, x])[1])()',
               'tf.function(lambda: tf.gradients(x ** 3, x)[0])()')]
gradients += [f'grad(lambda x: {e}, [1.+2.j, -1.+0.5j])' for e in
              ('x * x', 'x / (x + 1.)', 'tf.abs(x)', 'tf.exp(x)', 'tf.math.real(x) * 2.', 'tf.math.imag(x)',
               'tf.math.conj(x) * x', 'tf.math.log(x)',
               'tf.sqrt(x)', 'tf.sin(x)', 'tf.tanh(x)', 'tf.square(x)', 'x ** 2', 'tf.math.angle(x)')]

TABLE = [*unary, *binary, *casts, *reductions, *products, *arrays, *nn, *strings, *checks, *nodes, *gradients,
         *segment_snippets.TABLE, *linalg_snippets.TABLE, *random_snippets.TABLE,
         *image_snippets.TABLE, *counting_snippets.TABLE, *text_snippets.TABLE, *special_snippets.TABLE,
         *raw_snippets.TABLE]

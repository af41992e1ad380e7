"""Variables: eager, in graphs and by name; scopes, initializers, optimizers, collections."""
from __future__ import annotations

import numpy as np
import pytest

from pyfuncdbg import tf

v1 = tf.compat.v1


@pytest.fixture
def graph():
    with tf.Graph().as_default() as made:
        yield made


class TestEager:
    def test_assignments_and_what_they_return(self) -> None:
        v = tf.Variable([1.0, 2.0], name='v')
        read = v.read_value()
        assert v.assign([3.0, 4.0]).numpy().tolist() == [3.0, 4.0]
        assert v.assign_add([1.0, 1.0]).assign_sub([0.5, 0.5]).numpy().tolist() == [3.5, 4.5]
        assert v.assign([0.0, 0.0], read_value=False) is None
        assert read.numpy().tolist() == [1.0, 2.0]                  # what was read before stays
        assert repr(v) == "<tf.Variable 'v:0' shape=(2,) dtype=float32, numpy=array([0., 0.], dtype=float32)>"
        with pytest.raises(ValueError, match=r"Cannot assign value to variable ' v:0': Shape mismatch.The variable shape "
                                             r"\(2,\)"):
            v.assign([1.0, 2.0, 3.0])
        with pytest.raises(ValueError, match='Tensor conversion requested dtype float32'):
            v.assign(tf.constant([1, 2]))

    def test_its_memory_is_its_own(self) -> None:
        given = np.ones(3, np.float32)
        v = tf.Variable(given)
        given += 1
        v.numpy()[:] = 7
        np.asarray(v)[:] = 7
        assert v.numpy().tolist() == [1.0, 1.0, 1.0]
        v.assign(given)
        given += 1
        assert v.numpy().tolist() == [2.0, 2.0, 2.0]

    def test_operators_and_identity(self) -> None:
        v, w = tf.Variable(2.0), tf.Variable(2.0)
        assert float(v + 1) == 3.0 and float(1 - v) == -1.0 and bool(v == w) and bool(v > 1.0)
        assert v.ref() == v.ref() and v.ref() != w.ref() and v.ref().deref() is v
        with pytest.raises(TypeError, match='Variable is unhashable'):
            hash(v)
        with pytest.raises(ValueError, match='`initial_value` arg'):
            tf.Variable()
        assert float(tf.Variable(lambda: 3.0)) == 3.0

    def test_names_come_from_scopes(self) -> None:
        with tf.name_scope('a'), tf.name_scope('b'):
            assert tf.Variable(1.0, name='v').name == 'a/b/v:0'


class TestGraph:
    def test_nodes_and_collections(self, graph) -> None:
        v = v1.get_variable('v', [2], initializer=v1.ones_initializer())
        assert [op.name for op in graph.get_operations()] == [
            'v/Initializer/ones', 'v', 'v/IsInitialized/VarIsInitializedOp', 'v/Assign', 'v/Read/ReadVariableOp']
        assert tf.global_variables() == [v] and tf.trainable_variables() == [v]
        assert sorted(graph.get_all_collection_keys()) == ['trainable_variables', 'variables']
        tf.Variable(1.0, trainable=False, collections=['mine'], name='w')
        assert tf.global_variables() == [v] and [w.name for w in tf.get_collection('mine')] == ['w:0']

    def test_sessions_have_values_of_their_own(self, graph) -> None:
        v = tf.Variable(1.0)
        up = v.assign_add(2.0)
        one, two = tf.Session(), tf.Session()
        for session in (one, two):
            session.run(v.initializer)
        assert one.run([up]) == [3.0] and one.run(v) == 3.0 and two.run(v) == 1.0
        assert one.run(v.initial_value) == 1.0
        v.load(9.0, one)
        assert v.eval(one) == 9.0
        with tf.Session() as third:
            assert third.run(v1.report_uninitialized_variables()).tolist() == [b'Variable']
            assert not third.run(v1.is_variable_initialized(v))
            with pytest.raises(tf.errors.FailedPreconditionError, match='Container localhost does not exist'):
                third.run(v + 1.0)

    def test_a_read_after_an_assignment_sees_it(self, graph) -> None:
        v = tf.Variable(1.0)
        assigned = v.assign(5.0)
        with tf.control_dependencies([assigned]):
            after = v.read_value() * 2.0
        with tf.Session() as session:
            session.run(v.initializer)
            assert session.run([assigned + 0.0, after]) == [5.0, 10.0]


    def test_an_assignment_in_a_loop_or_branch_is_waited_for(self, graph) -> None:
        v = v1.get_variable('v', initializer=1., use_resource=True)

        def body(i, y):
            with tf.control_dependencies([v.assign_add(1.)]):
                return i + 1, y + v

        def branch():
            with tf.control_dependencies([v.assign_add(10.)]):
                return tf.identity(v)
        total = tf.while_loop(lambda i, _: i < 3, body, [0, 0.])[1]
        flag = v1.placeholder(tf.bool)
        chosen = tf.cond(flag, branch, lambda: 0.)
        with v1.Session() as session:
            session.run(v.initializer)
            assert session.run([total, v.value()])[0] == 9. and session.run(v) == 4.
            assert session.run(chosen, {flag: True}) == 14. and session.run(v) == 14.
            assert session.run(chosen, {flag: False}) == 0. and session.run(v) == 14.


class TestScopes:
    def test_reuse(self, graph) -> None:
        with v1.variable_scope('s') as scope:
            a = v1.get_variable('a', [2])
            assert a.name == 's/a:0' and (a + 1.0).name == 's/add:0'
            with v1.variable_scope('t'):
                assert v1.get_variable('b', initializer=1.0).name == 's/t/b:0'
        with pytest.raises(ValueError, match='Variable s/a already exists, disallowed'), v1.variable_scope('s'):
            v1.get_variable('a', [2])
        with v1.variable_scope('s', reuse=True):
            assert v1.get_variable('a', [2]) is a and tf.constant(1.0).name == 's_2/Const:0'
            with pytest.raises(ValueError, match=r'specified shape \(3,\) and found shape \(2,\)'):
                v1.get_variable('a', [3])
            with pytest.raises(ValueError, match='specified dtype int32 and found dtype float32'):
                v1.get_variable('a', [2], tf.int32)
            with pytest.raises(ValueError, match='Variable s/new does not exist'):
                v1.get_variable('new', [2])
        with v1.variable_scope(scope, reuse=v1.AUTO_REUSE):
            assert v1.get_variable('a') is a and v1.get_variable('new', [1]).name == 's/new:0'
        with v1.variable_scope('s') as again:
            again.reuse_variables()
            assert v1.get_variable('a') is a
        with v1.variable_scope(None, 'd') as first:
            pass
        with v1.variable_scope(None, 'd') as second:
            assert (first.name, second.name) == ('d', 'd_1')

    def test_initializers(self, graph) -> None:
        with v1.variable_scope('s', initializer=v1.constant_initializer(4.0)):
            variables = [v1.get_variable('a', [2]), v1.get_variable('b', [2], initializer=v1.zeros_initializer),
                         v1.get_variable('c', initializer=tf.constant([1, 2])),
                         v1.get_variable('d', initializer=lambda: tf.ones([1]))]
        ints = v1.get_variable('i', [2], tf.int32)
        with tf.Session() as session:
            session.run(tf.global_variables_initializer())
            assert [value.tolist() for value in session.run([*variables, ints])] == [[4, 4], [0, 0], [1, 2], [1], [0, 0]]
        for make, text in ((lambda: v1.get_variable('e'), 'did not get an initializer'),
                           (lambda: v1.get_variable('f', [None]), '`shape` should be fully defined'),
                           (lambda: v1.get_variable('g', [1], initializer=tf.constant([1.0])), 'do not specify shape')):
            with pytest.raises(ValueError, match=text):
                make()

    @pytest.mark.parametrize(('make', 'bound', 'deviation'), [
        (lambda: v1.random_uniform_initializer(-2.0, 2.0, seed=1), 2.0, 4 / 12 ** 0.5),
        (lambda: v1.random_normal_initializer(0.0, 0.5, seed=1), None, 0.5),
        (lambda: v1.truncated_normal_initializer(0.0, 0.5, seed=1), 1.0, 0.5 * 0.8796),
        (lambda: v1.glorot_uniform_initializer(seed=1), (6 / 300) ** 0.5, (2 / 300) ** 0.5),
        (lambda: v1.glorot_normal_initializer(seed=1), None, (2 / 300) ** 0.5),
        (lambda: v1.variance_scaling_initializer(3.0, 'fan_in', seed=1), None, (3 / 100) ** 0.5),
        (lambda: v1.variance_scaling_initializer(3.0, 'fan_out', 'untruncated_normal', seed=1), None, (3 / 200) ** 0.5),
    ])
    def test_random_initializers(self, make, bound, deviation) -> None:
        value = make()([100, 200]).numpy()
        assert value.dtype == np.float32 and abs(value.mean()) < deviation / 20
        assert abs(value.std() / deviation - 1) < 0.03
        assert bound is None or np.abs(value).max() <= bound


OPTIMIZERS = {
    'descent': (lambda: tf.train.GradientDescentOptimizer(0.1), [0.8, 0.64]),
    'momentum': (lambda: tf.train.MomentumOptimizer(0.1, 0.5), [0.8, 0.54]),
    'nesterov': (lambda: tf.train.MomentumOptimizer(0.1, 0.5, use_nesterov=True), [0.7, 0.44]),
    'adam': (lambda: tf.train.AdamOptimizer(0.1), [0.9, 0.8004]),
}


class TestOptimizers:
    @pytest.mark.parametrize('name', OPTIMIZERS)
    def test_two_steps_on_a_square(self, name, graph) -> None:
        make, expected = OPTIMIZERS[name]
        v = tf.Variable(1.0)
        step = tf.train.get_or_create_global_step()
        train = make().minimize(v * v, global_step=step)
        with tf.Session() as session:
            session.run(tf.global_variables_initializer())
            found = []
            for _ in expected:
                session.run(train)
                found.append(float(session.run(v)))
            assert tf.train.global_step(session, step) == 2
        np.testing.assert_allclose(found, expected, rtol=1e-3)

    @pytest.mark.parametrize('name', OPTIMIZERS)
    def test_the_same_in_eager_mode(self, name) -> None:
        make, expected = OPTIMIZERS[name]
        v, optimizer, found = tf.Variable(1.0), make(), []
        for _ in expected:
            optimizer.minimize(lambda: v * v)
            found.append(float(v))
        np.testing.assert_allclose(found, expected, rtol=1e-3)

    def test_names_and_objections(self, graph) -> None:
        a, b = v1.get_variable('a', [2]), v1.get_variable('b', [])
        optimizer = tf.train.MomentumOptimizer(0.1, 0.9)
        pairs = optimizer.compute_gradients(tf.reduce_sum(a * a))
        assert [(grad is None, variable) for grad, variable in pairs] == [(False, a), (True, b)]
        train = optimizer.apply_gradients(pairs, name='tr')
        assert (train.name, train.type) == ('tr', 'NoOp')
        assert {'tr/learning_rate', 'tr/update_a/ResourceApplyMomentum'} <= {op.name for op in graph.get_operations()}
        assert optimizer.get_slot(a, 'momentum').name == 'a/Momentum:0' and optimizer.get_slot_names() == ['momentum']
        with pytest.raises(ValueError, match='No gradients provided for any variable'):
            optimizer.minimize(tf.constant(1.0))
        with pytest.raises(ValueError, match='No variables provided'):
            optimizer.apply_gradients([])
        with pytest.raises(ValueError, match='"global_step" already exists'):
            tf.train.create_global_step()
            tf.train.create_global_step()

    def test_a_loss_in_eager_mode_is_a_function(self) -> None:
        v = tf.Variable(1.0)
        with pytest.raises(RuntimeError, match='should be a function when eager execution is enabled'):
            tf.train.GradientDescentOptimizer(0.1).minimize(v * v)


class TestGraphScopes:
    def test_control_dependencies(self, graph) -> None:
        a, b, c = (tf.constant(float(i), name='abc'[i]) for i in range(3))
        with tf.control_dependencies([a, b]):
            d = tf.identity(a)
            e = tf.identity(c)
            f = tf.identity(e)
            with tf.control_dependencies(None):
                g = tf.identity(c)
        assert [[op.name for op in t.op.control_inputs] for t in (d, e, f, g)] == [['b'], ['a', 'b'], [], []]
        wrong = pytest.raises(TypeError, match='Can not convert a int into a Tensor or Operation')
        with wrong, tf.control_dependencies([5]):
            pass
        with tf.Graph().as_default():
            other = tf.constant(1.0, name='other')
        with pytest.raises(ValueError, match='is not an element of this graph'), graph.control_dependencies([other]):
            pass
        tuple_ = tf.tuple([a, None, c], control_inputs=[b])
        assert tuple_[1] is None and [op.name for op in tuple_[0].op.control_inputs] == ['tuple/group_deps']

    def test_devices_merge(self, graph) -> None:
        with tf.device('/job:ps/task:1'):
            with tf.device('/cpu:0'):
                a = tf.constant(1.0)
            with tf.device(None):
                b = tf.constant(1.0)
            with v1.device(lambda op: '/device:CPU:1' if op.type == 'Const' else ''):
                c = tf.constant(1.0)
        assert [t.device for t in (a, b, c)] == ['/job:ps/task:1/device:CPU:0', '', '/job:ps/task:1/device:CPU:1']
        with v1.colocate_with(a):
            d = tf.constant(1.0)
        assert d.device == a.device and d.op.colocation_groups() == a.op.colocation_groups()
        with pytest.raises(ValueError, match="Unknown attribute 'foo'"), tf.device('foo'):
            pass
        with pytest.raises(RuntimeError, match='does not support functions'):
            tf.device(lambda op: '')

    def test_shape_errors_name_the_node(self, graph) -> None:
        x, y = tf.placeholder(tf.float32, [2], name='x'), tf.placeholder(tf.float32, [3], name='y')
        with tf.control_dependencies([x]), pytest.raises(ValueError) as caught:
            tf.add(x, y, name='sum')
        assert str(caught.value) == ("Dimensions must be equal, but are 2 and 3 for '{{node sum}} = AddV2[T=DT_FLOAT](x, "
                                     "y)' with "
                                     'input shapes: [2], [3].')
        with pytest.raises(ValueError, match=r"'\{\{node MatMul\}\} = MatMul\[T=DT_FLOAT, grad_a=false, grad_b=false, "
                                             r"transpose_a=false"):
            tf.matmul(tf.reshape(x, [1, 2]), tf.reshape(y, [1, 3]))
        with pytest.raises(TypeError, match="Input 'y' of 'AddV2' Op has type int32 that does not match type float32"):
            tf.add(x, tf.placeholder(tf.int32))

    def test_init_scope_leaves_functions(self) -> None:
        seen = []

        @tf.function
        def f(x):
            with tf.init_scope():
                seen.append((tf.executing_eagerly(), float(tf.constant(2.0))))
            seen.append((tf.executing_eagerly(), tf.inside_function()))
            return x
        f(tf.constant(1.0))
        assert seen == [(True, 2.0), (False, True)]

"""Traits of sites: of op types by name, as names in a trace, and at the sites that our own runtime makes."""
from __future__ import annotations

import pytest

from pyfuncdbg import tf
from pyfuncdbg.hooks.call import CallSite
from pyfuncdbg.hooks.traits import NO_TRAITS, Traits, backward_step_traits, op_traits, traits_from_names
from pyfuncdbg.hosts.numpy.graph.definitions import registry
from pyfuncdbg.hosts.numpy.runtime.execution.host import host
from pyfuncdbg.hosts.numpy.runtime.plans.plan import op_site


@pytest.mark.parametrize(('op_type', 'traits'), [
    ('StatefulPartitionedCall', Traits(runs_graph=True, calls_function=True)),
    ('While', Traits(runs_graph=True)),
    ('ZerosLike', Traits(reads_no_value=True)),
    ('EagerPyFunc', Traits(wraps_python=True)),
    ('EagerPyFuncGrad', Traits(backward_of_python=True)),
    ('NoOp', Traits(needs_no_shape=True)),
    ('ReadVariableOp', Traits(reads_variable=True)),
    ('GatherV2', Traits(gathers_rows=True)),
    ('Cholesky', Traits(takes_symmetric=True)),
    ('MatMul', NO_TRAITS),
    ('#', NO_TRAITS),
])
def test_traits_of_an_op_type(op_type: str, traits: Traits) -> None:
    assert op_traits(op_type) == traits


def test_only_the_backward_steps_of_a_frameworks_own_ops_are_foreign() -> None:
    steps = [backward_step_traits(op_type) for op_type in ('MatMul', 'EagerPyFunc', 'CustomGradient')]
    assert [step.foreign for step in steps] == [True, False, False]


def test_a_trace_keeps_traits_by_name() -> None:
    assert Traits(reads_variable=True, foreign=True).names == ['reads_variable', 'foreign']
    assert traits_from_names(['foreign', 'reads_variable']) == Traits(reads_variable=True, foreign=True)
    assert traits_from_names(['names', 'count', 'of_a_later_version', '']) == NO_TRAITS


def test_nodes_have_the_traits_of_their_op() -> None:
    graph = tf.Graph()
    with graph.as_default():
        shape = tf.shape(tf.compat.v1.placeholder(tf.float32))
        tf.cond(tf.compat.v1.placeholder(tf.bool), lambda: tf.constant(1.0), lambda: tf.constant(2.0))
    assert op_site(shape.op).traits.reads_no_value
    site = next(op_site(op) for op in graph.get_operations() if op.type in ('If', 'StatelessIf'))
    assert site.traits == Traits(runs_graph=True)


def test_a_site_of_a_python_function_has_no_traits_by_itself() -> None:
    assert CallSite('f', 'EagerPyFunc', 'python', host).traits == NO_TRAITS


def test_our_ops_of_the_table_are_registered() -> None:
    assert {'If', 'While', 'Shape', 'ReadVariableOp', 'GatherV2', 'Cholesky', 'EagerPyFunc', 'EagerPyFuncGrad'} <= {
        definition.name for definition in registry.registered_ops()}

"""`tf.compat.v1.train`: optimizers that minimize a loss by changing variables, and the global step.

An optimizer is an update rule with its settings and a name. Rates are numbers, tensors or functions.
"""
from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager, nullcontext
from typing import Any

from pyfuncdbg.hosts.numpy.graph import context
from pyfuncdbg.hosts.numpy.graph.graph import Graph, owner
from pyfuncdbg.hosts.numpy.graph.symbolic_tensor import SymbolicTensor
from pyfuncdbg.hosts.numpy.graph.tensor import Tensor
from pyfuncdbg.hosts.numpy.graph.types import dtypes
from pyfuncdbg.hosts.numpy.ops.arrays.filling import zeros
from pyfuncdbg.hosts.numpy.ops.definition.constant import constant, convert_to_tensor
from pyfuncdbg.hosts.numpy.ops.definition.public_scopes import group
from pyfuncdbg.hosts.numpy.ops.training import update_rules
from pyfuncdbg.hosts.numpy.ops.training.update_rules import UpdateRule
from pyfuncdbg.hosts.numpy.ops.variables.collections import GraphKeys, trainable_variables
from pyfuncdbg.hosts.numpy.ops.variables.variable import Variable
from pyfuncdbg.hosts.numpy.runtime.differentiation.symbolic_gradients import gradients
from pyfuncdbg.hosts.numpy.runtime.differentiation.tape import GradientTape
from pyfuncdbg.hosts.numpy.runtime.eager.dispatch import apply

_DIFFERENTIABLE = (dtypes.float32, dtypes.float64, dtypes.float16, dtypes.bfloat16)


class Optimizer:
    """Optimizer with one update rule, made by `GradientDescentOptimizer` and the like.

    Args:
        rule: The update rule.
        name: The name scope of the nodes.
    """

    GATE_NONE, GATE_OP, GATE_GRAPH = 0, 1, 2

    def __init__(self, rule: UpdateRule, name: str) -> None:
        self._rule = rule
        self._name = name
        self._slots: dict[tuple[int, str], Any] = {}
        self._powers: dict[Graph | None, list[Any]] = {}

    def get_name(self) -> str:
        """The name."""
        return self._name

    def minimize(self, loss: Any, global_step: Any = None, var_list: Any = None, gate_gradients: int = GATE_OP,
                 aggregation_method: Any = None, colocate_gradients_with_ops: bool = False, name: str | None = None,
                 grad_loss: Any = None) -> Any:
        """An operation that takes one step; in eager mode the step is taken.

        Args:
            loss: A tensor; in eager mode a function that gives one.
            global_step: A variable to increment.
            var_list: Variables to change; by default all trainable ones of the graph, or those that the function reads.

        Raises:
            ValueError: The loss depends on none of the variables.
            RuntimeError: In eager mode the loss is no function.
        """
        pairs = self.compute_gradients(loss, var_list, gate_gradients, aggregation_method, colocate_gradients_with_ops,
                                       grad_loss)
        if not any(gradient is not None for gradient, _ in pairs):
            raise ValueError('No gradients provided for any variable, check your graph for ops that do not support '
                             f'gradients, between variables {[str(v) for _, v in pairs]} and loss {loss}.')
        return self.apply_gradients(pairs, global_step, name)

    def compute_gradients(self, loss: Any, var_list: Any = None, gate_gradients: int = GATE_OP,
                          aggregation_method: Any = None,
                          colocate_gradients_with_ops: bool = False, grad_loss: Any = None) -> list[tuple[Any, Any]]:
        """Pairs (gradient, variable); the gradient is None where the loss does not depend on the variable.

        Raises:
            ValueError: There are no variables.
            RuntimeError: In eager mode the loss is no function.
        """
        if gate_gradients not in (self.GATE_NONE, self.GATE_OP, self.GATE_GRAPH):
            raise ValueError('gate_gradients must be one of: Optimizer.GATE_NONE, Optimizer.GATE_OP, '
                             f'Optimizer.GATE_GRAPH.  Not {gate_gradients}')
        if callable(loss):
            with GradientTape() as tape:
                value = loss()
            variables = list(tape.watched_variables()) if var_list is None else _as_list(var_list() if callable(var_list)
                                                                                         else var_list)
            return list(zip(tape.gradient(value, variables, grad_loss), variables, strict=True))
        if context.current_graph() is None and not isinstance(loss, SymbolicTensor):
            raise RuntimeError('`loss` passed to Optimizer.compute_gradients should be a function when eager execution is '
                               'enabled.')
        if loss.dtype not in _DIFFERENTIABLE:
            raise ValueError(f'Invalid type {loss.dtype!r} for {loss.name}, expected: {list(_DIFFERENTIABLE)}.')
        with _home(loss).as_default():
            variables = trainable_variables() if var_list is None else _as_list(var_list)
            if not variables:
                raise ValueError('No variables to optimize.')
            for variable in variables:
                if not hasattr(variable, 'handle') and not isinstance(variable, Tensor):
                    raise AttributeError(f'{type(variable).__name__!r} object has no attribute \'op\'')
            return list(zip(gradients(loss, variables, grad_loss), variables, strict=True))

    def apply_gradients(self, grads_and_vars: Any, global_step: Any = None, name: str | None = None) -> Any:
        """An operation that changes the variables by these gradients.

        Raises:
            ValueError: There are no variables, or no gradient is given.
        """
        pairs = list(grads_and_vars)
        if not pairs:
            raise ValueError('No variables provided.')
        connected = [(gradient, variable) for gradient, variable in pairs if gradient is not None]
        if not connected:
            raise ValueError(f'No gradients provided for any variable: {[str(v) for _, v in pairs]}.')
        graph = context.current_graph() or next((owner(g) for g, _ in connected if isinstance(g, SymbolicTensor)), None)
        with nullcontext() if graph is None else graph.as_default():
            powers = self._powers_in(graph, min((variable for _, variable in connected), key=lambda one: str(one.name)))
            slots = [[self._slot(variable, name, start) for name, start in self._rule.slots.items()]
                     for _, variable in connected]
            with nullcontext(None) if graph is None else graph.name_scope(name or self._name) as full:
                return self._applied(graph, connected, slots, powers, global_step, full)

    def _applied(self, graph: Graph | None, pairs: Sequence[tuple[Any, Any]], slots: Sequence[Sequence[Any]],
                 powers: Sequence[Any],
                 global_step: Any, full: str | None) -> Any:
        settings = self._rule.constants()
        updates = []
        for (gradient, variable), slots_of_variable in zip(pairs, slots, strict=True):
            scope = f'update_{variable.name.removesuffix(":0")}'
            with nullcontext() if graph is None else graph.name_scope(scope):
                updates.append(self._rule.update(variable, slots_of_variable, powers, settings, gradient))
        if graph is None:
            self._raise_powers(powers)
            if global_step is not None:
                global_step.assign_add(1)
            return None
        with graph.control_dependencies(updates):
            updates = [*updates, *self._raise_powers(powers)]
        if global_step is None:
            train_op = group(*updates, name=full)
        else:
            with graph.control_dependencies([group(*updates, name='update')]):
                train_op = global_step.assign_add(1, name=full, read_value=False)
        graph.add_to_collection(GraphKeys.TRAIN_OP, train_op)
        return train_op

    def _raise_powers(self, powers: Sequence[Any]) -> list[Any]:
        return [power.assign(apply('Mul', (power.read_value(), convert_to_tensor(start, power.dtype))), read_value=False)
                for power, start in zip(powers, self._rule.powers.values(), strict=True)]

    def _powers_in(self, graph: Graph | None, first: Any) -> list[Any]:
        """The powers of a graph's variables, beside the first one, or of eager ones."""
        if graph not in self._powers:
            with nullcontext() if graph is None or first.initializer is None else _beside(first):
                self._powers[graph] = [Variable(start, trainable=False, name=name, dtype=dtypes.float32)
                                       for name, start in self._rule.powers.items()]
        return self._powers[graph]

    # ------------------------------------------------------------------ slots
    def _slot(self, variable: Any, slot: str, start: float) -> Any:
        key = id(variable.handle), slot
        if key not in self._slots:
            eager = variable.initializer is None
            earlier = [name for owner, name in self._slots if owner == key[0]]
            name = f'{variable.name.removesuffix(":0")}/{self._name}'
            if eager and earlier:                   # in a graph the names are unique
                name += f'_{len(earlier)}'
            with context.under(None) if eager else _beside(variable):    # an eager slot for an eager variable
                self._slots[key] = Variable(lambda: _slot_start(variable, start), trainable=False, name=name)
        return self._slots[key]

    def get_slot(self, var: Any, name: str) -> Any:
        """The slot variable of `var`; None if there is none."""
        return self._slots.get((id(getattr(var, 'handle', var)), name))

    def get_slot_names(self) -> list[str]:
        """The names of slots."""
        return sorted(self._rule.slots)

    def variables(self) -> list[Any]:
        """Slot variables and powers, by name."""
        variables = [*(power for powers in self._powers.values() for power in powers), *self._slots.values()]
        return sorted(variables, key=lambda variable: variable.name)


@contextmanager
def _beside(variable: Any) -> Iterator[None]:
    """Place new nodes on the device of a variable of a graph: an update uses the handles of both."""
    graph = context.get_default_graph()
    with graph.device(None), graph.device(variable.device):
        yield


def _slot_start(variable: Any, start: float) -> Any:
    """The initial value of a slot variable."""
    if not start:
        return zeros(variable.shape, variable.dtype)
    return constant(start, variable.dtype, variable.shape)


def _as_list(variables: Any) -> list[Any]:
    return list(variables) if isinstance(variables, (list, tuple)) else [variables]


def _home(loss: Any) -> Graph:
    return context.current_graph() or loss.graph


# ---------------------------------------------------------------- the global step
def get_global_step(graph: Graph | None = None) -> Any:
    """The global step of a graph, None if there is none."""
    steps = (graph or context.get_default_graph()).get_collection(GraphKeys.GLOBAL_STEP)
    return steps[0] if steps else None


def create_global_step(graph: Graph | None = None) -> Any:
    """Create the global step: an int64 variable that starts with 0.

    Raises:
        ValueError: It exists.
    """
    graph = graph or context.current_graph() or context.graph_for_nodes()
    if get_global_step(graph) is not None:
        raise ValueError('"global_step" already exists.')
    with graph.as_default(), graph.name_scope(None):
        return Variable(lambda: zeros([], dtypes.int64), trainable=False, name='global_step',
                        collections=[GraphKeys.GLOBAL_VARIABLES, GraphKeys.GLOBAL_STEP])


def get_or_create_global_step(graph: Graph | None = None) -> Any:
    """The global step, created if missing."""
    step = get_global_step(graph)
    return create_global_step(graph) if step is None else step


def global_step(sess: Any, global_step_tensor: Any) -> int:
    """The value of the global step in a session."""
    return int(sess.run(global_step_tensor))


class GradientDescentOptimizer(Optimizer):
    """Steps of the rate times the gradient."""

    def __init__(self, learning_rate: Any, use_locking: bool = False, name: str = 'GradientDescent') -> None:
        super().__init__(update_rules.gradient_descent(learning_rate), name)


class MomentumOptimizer(Optimizer):
    """Steps along a decaying sum of gradients."""

    def __init__(self, learning_rate: Any, momentum: Any, use_locking: bool = False, name: str = 'Momentum',
                 use_nesterov: bool = False) -> None:
        super().__init__(update_rules.momentum(learning_rate, momentum, use_nesterov), name)


class AdamOptimizer(Optimizer):
    """Steps scaled by running means of the gradient and its square (Kingma and Ba, 2015)."""

    def __init__(self, learning_rate: Any = 0.001, beta1: Any = 0.9, beta2: Any = 0.999, epsilon: Any = 1e-8,
                 use_locking: bool = False, name: str = 'Adam') -> None:
        super().__init__(update_rules.adam(learning_rate, beta1, beta2, epsilon), name)


class AdagradOptimizer(Optimizer):
    """Steps divided by the root of the sum of squared gradients (Duchi et al., 2011).

    Raises:
        ValueError: The accumulator does not start above zero.
    """

    def __init__(self, learning_rate: Any, initial_accumulator_value: float = 0.1, use_locking: bool = False,
                 name: str = 'Adagrad') -> None:
        if initial_accumulator_value <= 0:
            raise ValueError(f'initial_accumulator_value must be positive: {initial_accumulator_value}')
        super().__init__(update_rules.adagrad(learning_rate, initial_accumulator_value), name)


class AdadeltaOptimizer(Optimizer):
    """Steps scaled by the ratio of running means of steps and gradients (Zeiler, 2012)."""

    def __init__(self, learning_rate: Any = 0.001, rho: Any = 0.95, epsilon: Any = 1e-8, use_locking: bool = False,
                 name: str = 'Adadelta') -> None:
        super().__init__(update_rules.adadelta(learning_rate, rho, epsilon), name)


class RMSPropOptimizer(Optimizer):
    """Steps scaled by a running mean of the squared gradient (Tieleman and Hinton, 2012)."""

    def __init__(self, learning_rate: Any, decay: Any = 0.9, momentum: Any = 0.0, epsilon: Any = 1e-10,
                 use_locking: bool = False, centered: bool = False, name: str = 'RMSProp') -> None:
        super().__init__(update_rules.rmsprop(learning_rate, decay, momentum, epsilon, centered), name)


class FtrlOptimizer(Optimizer):
    """Follow the regularized leader (McMahan et al., 2013).

    Raises:
        ValueError: A strength is negative, the accumulator starts below zero, or the power is positive.
    """

    def __init__(self, learning_rate: Any, learning_rate_power: float = -0.5, initial_accumulator_value: float = 0.1,
                 l1_regularization_strength: float = 0.0, l2_regularization_strength: float = 0.0,
                 use_locking: bool = False, name: str = 'Ftrl') -> None:
        for word, value in (('initial_accumulator_value', initial_accumulator_value),
                            ('l1_regularization_strength', l1_regularization_strength),
                            ('l2_regularization_strength', l2_regularization_strength)):
            if value < 0:
                raise ValueError(f'{word} {value} needs to be positive or zero')
        if learning_rate_power > 0:
            raise ValueError(f'learning_rate_power {learning_rate_power} needs to be negative or zero')
        super().__init__(update_rules.ftrl(learning_rate, learning_rate_power, initial_accumulator_value,
                                           l1_regularization_strength, l2_regularization_strength), name)

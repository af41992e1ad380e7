"""`tf.compat.v1.train.ExponentialMovingAverage`: shadow variables that follow variables."""
from __future__ import annotations

from collections.abc import Sequence
from contextlib import nullcontext
from typing import Any

from pyfuncdbg.hosts.numpy.graph import context
from pyfuncdbg.hosts.numpy.ops.arrays.filling import zeros
from pyfuncdbg.hosts.numpy.ops.definition.cast import cast
from pyfuncdbg.hosts.numpy.ops.definition.constant import convert_to_tensor
from pyfuncdbg.hosts.numpy.ops.definition.public_scopes import group
from pyfuncdbg.hosts.numpy.ops.elementwise.binary import minimum
from pyfuncdbg.hosts.numpy.ops.variables.collections import (
    GraphKeys,
    global_variables,
    moving_average_variables,
    trainable_variables,
)
from pyfuncdbg.hosts.numpy.ops.variables.variable import Variable


class ExponentialMovingAverage:
    """Keeps `shadow = decay * shadow + (1 - decay) * variable`.

    Args:
        decay: Weight of the previous shadow.
        num_updates: A count; decay is at most (1 + count) / (10 + count) then.
        zero_debias: For tensors that are no variables, correct the bias of the start at zero.
        name: Of the scope, and of the shadows.
    """

    def __init__(self, decay: Any, num_updates: Any = None, zero_debias: bool = False,
                 name: str = 'ExponentialMovingAverage') -> None:
        self._decay = decay
        self._num_updates = num_updates
        self._zero_debias = zero_debias
        self._name = name
        self._averages: dict[Any, Variable] = {}
        self._weights: dict[Any, Variable] = {}

    @property
    def name(self) -> str:
        """The name."""
        return self._name

    def apply(self, var_list: Sequence[Any] | None = None) -> Any:
        """An operation that updates the shadows, created at the first call. In eager mode they are updated at once.

        Raises:
            TypeError: A variable has no float dtype.
        """
        variables = trainable_variables() if var_list is None else list(var_list)
        for variable in variables:
            if not variable.dtype.is_floating:
                raise TypeError(f'The variables must be half, float, or double: {variable.name}')
            if variable.ref() not in self._averages:
                self._averages[variable.ref()] = self._shadow(variable)
        graph = context.current_graph()
        with nullcontext(None) if graph is None else graph.name_scope(self._name) as full:
            decay = convert_to_tensor(self._decay, 'float32', name='decay')
            if self._num_updates is not None:
                count = cast(self._num_updates, 'float32')
                decay = minimum(decay, (1.0 + count) / (10.0 + count))
            updates = [self._moved(variable, decay) for variable in variables]
            return None if graph is None else group(*updates, name=full)

    def _moved(self, variable: Any, decay: Any) -> Any:
        shadow = self._averages[variable.ref()]
        rest = cast(1.0 - decay, shadow.dtype)
        value = variable.read_value() if isinstance(variable, Variable) else variable
        update = shadow.assign_sub((shadow.read_value() - value) * rest, read_value=False)
        weight = self._weights.get(variable.ref())
        if weight is None:
            return update
        return group(update, weight.assign_sub((weight.read_value() - 1.0) * rest, read_value=False))

    def _shadow(self, variable: Any) -> Variable:
        is_variable = isinstance(variable, Variable)
        name = f'{variable.name.removesuffix(":0") if is_variable else variable.op.name}/{self._name}'
        if is_variable:
            start: Any = variable.initialized_value if context.current_graph() is not None else variable.read_value
        else:
            def start() -> Any:
                return zeros(variable.shape, variable.dtype)
        collections = [GraphKeys.GLOBAL_VARIABLES]
        graph = context.current_graph()
        with nullcontext() if graph is None else graph.outside_scopes():
            shadow = Variable(start, trainable=False, name=name, collections=collections)
            if not is_variable and self._zero_debias:
                self._weights[variable.ref()] = Variable(lambda: zeros([], variable.dtype), trainable=False,
                                                         name=f'{name}/biased', collections=collections)
        if graph is not None and is_variable:
            graph.add_to_collection(GraphKeys.MOVING_AVERAGE_VARIABLES, variable)
        return shadow

    def average(self, var: Any) -> Any:
        """The shadow of a variable, None if there is none."""
        shadow = self._averages.get(var.ref())
        weight = self._weights.get(var.ref())
        return shadow if weight is None or shadow is None else shadow.read_value() / weight.read_value()

    def average_name(self, var: Any) -> str:
        """The name of the shadow."""
        average = self._averages.get(var.ref())
        if average is not None:
            return average.name.removesuffix(':0')
        return f'{var.name.removesuffix(":0") if isinstance(var, Variable) else var.op.name}/{self._name}'

    def variables_to_restore(self, moving_avg_variables: Sequence[Any] | None = None) -> dict[str, Any]:
        """By the name of the shadow, each variable that has one; the others by their own names."""
        averaged = list(moving_avg_variables) if moving_avg_variables is not None else [
            *trainable_variables(), *moving_average_variables()]
        restored = {self.average_name(variable): variable for variable in averaged}
        own_ids = {id(variable) for variable in averaged} | {id(shadow) for shadow in self._averages.values()}
        for variable in global_variables():
            if id(variable) not in own_ids and variable.name.removesuffix(':0') not in restored:
                restored[variable.name.removesuffix(':0')] = variable
        return restored

"""`tf.data.Options`: settings of datasets. Only `deterministic` has an effect here; the others are stored.

Names and types are TensorFlow's, so that a misspelt setting is refused. Set by the program, read where datasets are made.
"""
from __future__ import annotations

from collections.abc import Mapping
from typing import Any, ClassVar


class _Settings:
    """Settings by name, each with the type of its values (object: any); None if not set."""

    _types: ClassVar[Mapping[str, type]] = {}
    _old: ClassVar[Mapping[str, str]] = {}
    """Current names by deprecated ones."""

    def __init__(self) -> None:
        self.__dict__['_values'] = {}

    def __getattr__(self, name: str) -> Any:
        now = self._old.get(name, name)
        if now not in self._types:
            raise AttributeError(f'{type(self).__name__!r} object has no attribute {name!r}')
        kind = self._types[now]
        if now not in self._values and issubclass(kind, _Settings):
            self._values[now] = kind()
        return self._values.get(now)

    def __setattr__(self, name: str, value: Any) -> None:
        now = self._old.get(name, name)
        if now not in self._types:
            raise AttributeError(f'Cannot set the property {name} on {type(self).__name__}.')
        if not isinstance(value, self._types[now]):
            raise TypeError(f'Property "{now}" must be of type {self._types[now]}, got: {value} (type: {type(value)})')
        self._values[now] = value

    def merge(self, options: Any) -> Any:
        """These settings, overridden by others.

        Raises:
            TypeError: Options of another kind.
        """
        if type(options) is not type(self):
            raise TypeError(f'Could not merge incompatible options of type {type(options)} and {type(self)}.')
        merged = type(self)()
        for settings in (self, options):
            for name, value in settings._values.items():
                value_before = merged._values.get(name)
                merged._values[name] = value_before.merge(value) if isinstance(value_before, _Settings) else value
        return merged

    def __eq__(self, other: object) -> bool:
        return isinstance(other, type(self)) and self._values == other._values

    __hash__ = None  # type: ignore[assignment]


class AutotuneOptions(_Settings):
    """Options of TensorFlow's automatic choice of thread numbers."""

    _types: ClassVar[Mapping[str, type]] = {
        'autotune_algorithm': object, 'cpu_budget': int, 'enabled': bool, 'initial_parallelism': int, 'min_parallelism': int,
        'ram_budget': int}


class DistributeOptions(_Settings):
    """Options of sharding a dataset over several devices."""

    _types: ClassVar[Mapping[str, type]] = {'auto_shard_policy': object, 'num_devices': int}


class OptimizationOptions(_Settings):
    """Options of TensorFlow's rewrites of a pipeline."""

    _types: ClassVar[Mapping[str, type]] = dict.fromkeys((
        'apply_default_optimizations', 'filter_fusion', 'filter_parallelization', 'inject_prefetch', 'map_and_batch_fusion',
        'map_and_filter_fusion', 'map_fusion', 'map_parallelization', 'noop_elimination', 'parallel_batch',
        'seq_interleave_prefetch', 'shuffle_and_repeat_fusion'), bool)


class ServiceOptions(_Settings):
    """Options of a data service."""

    _types: ClassVar[Mapping[str, type]] = {'pinned': bool}


class ThreadingOptions(_Settings):
    """Threads of a dataset."""

    _types: ClassVar[Mapping[str, type]] = {'max_intra_op_parallelism': int, 'private_threadpool_size': int}


class Options(_Settings):
    """Settings; None if not set.

    Attributes:
        deterministic: Whether elements keep their order in parallel transformations.
    """

    deterministic: bool | None
    _types: ClassVar[Mapping[str, type]] = {
        'autotune': AutotuneOptions, 'dataset_name': str, 'deterministic': bool,
        'experimental_distribute': DistributeOptions, 'experimental_external_state_policy': object,
        'experimental_optimization': OptimizationOptions, 'experimental_service': ServiceOptions,
        'experimental_slack': bool, 'experimental_symbolic_checkpoint': bool, 'experimental_warm_start': bool,
        'framework_type': list, 'threading': ThreadingOptions}
    _old: ClassVar[Mapping[str, str]] = {
        'experimental_deterministic': 'deterministic', 'experimental_threading': 'threading'}

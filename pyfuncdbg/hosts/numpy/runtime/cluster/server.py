"""`tf.distribute.Server`: a task of a cluster in this process, and the registry of such tasks.

A server reserves its port but answers no request: its nodes run in this process, on the thread
of the session. Variables live on the task until the process ends. With a transport, tasks are in other processes.
"""
from __future__ import annotations

import re
import threading
from collections.abc import Collection, Iterable, Mapping
from typing import Any

from pyfuncdbg.errors import InternalError, InvalidArgumentError, NotFoundError, UnavailableError, UnknownError
from pyfuncdbg.hooks.locks import new_lock
from pyfuncdbg.hosts.numpy.graph.device import DeviceSpecV2
from pyfuncdbg.hosts.numpy.graph.operation import Operation
from pyfuncdbg.hosts.numpy.runtime.cluster.cluster_spec import ClusterSpec
from pyfuncdbg.hosts.numpy.runtime.cluster.devices import get_soft_device_placement
from pyfuncdbg.hosts.numpy.runtime.cluster.placement import LOCAL, Devices, device_for, in_order, unplaceable
from pyfuncdbg.hosts.numpy.runtime.cluster.task_transport import schemes, transport, transport_of

_SCHEME = 'grpc://'
_tasks: dict[str, _Task] = {}
"""By address; entries stay, because a server cannot be stopped."""
_lock = new_lock()


class TaskState:
    """The variables of one task of this process, and other resources that sessions share by name.

    Attributes:
        device: The task's one device.
        variables: By (container, name); other resources that sessions share by (container, name, kind).
    """

    def __init__(self, device: DeviceSpecV2) -> None:
        self.device = device
        self.variables: dict[Any, Any] = {}

    def delete(self, containers: Collection[str]) -> None:
        """Delete the variables in some containers."""
        for key in [key for key in self.variables if key[0] in containers]:
            self.variables.pop(key, None)


class _Task(TaskState):
    """One task of this process, with a server.

    Attributes:
        cluster: The server's cluster.
        reserved: Socket that reserves the port.
    """

    def __init__(self, cluster: ClusterSpec, job: str, index: int, reserved: Any) -> None:
        super().__init__(DeviceSpecV2(job, 0, index, 'CPU', 0))
        self.cluster = cluster
        self.reserved = reserved


class Server:
    """`tf.distribute.Server`.

    Args:
        server_or_cluster_def: A ServerDef, ClusterDef, `ClusterSpec`, or an argument for a `ClusterSpec`.
        job_name: Its job in the cluster; by default the only one.
        task_index: Its task in the job; by default the only one.
        protocol: 'grpc': it is in this process. Or that of a transport, such as 'dask': its tasks are in other processes,
            whose names the cluster has as addresses, and `start` makes all processes of the cluster its tasks.
        config: Accepted for compatibility.
        start: Whether to start it.

    Raises:
        TypeError: It describes no cluster.
        ValueError: Job or task are ambiguous.
        InternalError: The cluster has no such task.
        NotFoundError: There is no such protocol.
        UnavailableError: Another process of the cluster is not there.
        UnknownError: The port is in use.
    """

    def __init__(self, server_or_cluster_def: Any, job_name: Any = None, task_index: Any = None, protocol: Any = None,
                 config: Any = None, start: bool = True) -> None:
        self._server_def = server_def(server_or_cluster_def, job_name, task_index, protocol)
        message = self._server_def
        other = None if message.protocol == 'grpc' else transport(message.protocol)
        if message.protocol != 'grpc' and other is None:
            raise NotFoundError(None, None, f'No server factory registered for the given ServerDef:\n{message}\nThe '
                                            f'available server factories are: [ {", ".join(_factories("SERVER"))} ]'
                                            f'{_hint(message.protocol)}')
        cluster = ClusterSpec(message.cluster)
        if message.job_name not in cluster.jobs:
            raise InternalError(None, None, f'Job "{message.job_name}" was not defined in cluster')
        if message.task_index not in cluster.task_indices(message.job_name):
            raise InternalError(None, None, f'Task {message.task_index} was not defined in job "{message.job_name}"')
        self._cluster, self._transport, self._target = cluster, other, ''
        if other is None:
            host, reserved = _bind_port(cluster.task_address(message.job_name, message.task_index))
            self._address = f'{host}:{reserved.getsockname()[1]}'
            self._task = _Task(cluster, message.job_name, message.task_index, reserved)
            cluster._jobs[message.job_name][message.task_index] = self._address
            self._target = _SCHEME + self._address
        if start:
            self.start()

    def start(self) -> None:
        """Make it available to sessions; idempotent.

        Raises:
            UnavailableError: Its process is not there.
        """
        if self._transport is not None:
            self._target = self._transport.serve(self._cluster, self._server_def.job_name, self._server_def.task_index)
            return
        with _lock:
            _tasks[self._address] = self._task

    def join(self) -> None:
        """Block until Ctrl-C: nothing stops a server."""
        threading.Event().wait()

    @property
    def server_def(self) -> Any:
        """Its ServerDef."""
        return self._server_def

    @property
    def target(self) -> str:
        """The target for sessions on this server: 'grpc://localhost:2222'; '' before its start in another process."""
        return self._target

    @staticmethod
    def create_local_server(config: Any = None, start: bool = True) -> Server:
        """A server that is a cluster of its own, on a free port."""
        return Server({'localhost': ['localhost:0']}, protocol='grpc', config=config, start=start)


def server_def(definition: Any, job_name: Any, task_index: Any, protocol: Any) -> Any:
    """A ServerDef from the arguments of a server.

    Raises:
        TypeError: It describes no cluster.
        ValueError: Job or task are ambiguous.
    """
    from pyfuncdbg.hosts.numpy.graph.proto.messages import ServerDef
    message = ServerDef()
    if isinstance(definition, ServerDef):
        message.CopyFrom(definition)
    else:
        try:
            message.cluster.CopyFrom(ClusterSpec(definition).as_cluster_def())
        except TypeError:
            raise TypeError('Could not convert `server_or_cluster_def` to a `tf.train.ServerDef` or '
                            '`tf.train.ClusterSpec`.') from None
    jobs = {job.name: job for job in message.cluster.job}
    if job_name is not None:
        message.job_name = job_name
    elif not message.job_name:
        if len(jobs) != 1:
            raise ValueError('Must specify an explicit `job_name`.')
        message.job_name = next(iter(jobs))
    if task_index is not None:
        message.task_index = task_index
    elif not isinstance(definition, ServerDef):
        if message.job_name not in jobs:
            raise ValueError(f'No such job in cluster: {message.job_name!r}')
        tasks = jobs[message.job_name].tasks
        if len(tasks) != 1:
            raise ValueError('Must specify an explicit `task_index`.')
        message.task_index = next(iter(tasks))
    message.protocol = protocol if protocol is not None else message.protocol or 'grpc'
    return message


def _bind_port(address: str) -> tuple[str, Any]:
    """The host of an address, and a socket that has its port.

    Raises:
        InternalError: It is no address.
        UnknownError: The port is in use.
    """
    import socket  # not needed without a server
    host, colon, port = address.rpartition(':')
    if not colon or not port.isdecimal() or int(port) > 65535:
        raise InternalError(None, None, f'Could not parse port for local server from "{address}".')
    reserved = socket.socket()
    try:
        reserved.bind(('', int(port)))
    except OSError as error:
        reserved.close()
        raise UnknownError(None, None, f'Could not start gRPC server: {address}: {error.strerror}') from error
    return host, reserved


# ---------------------------------------------------------------- sessions on servers
class TaskVariables(dict[Any, Any]):
    """Resources of a session on tasks of this process. Variables are shared on their task, and what the program has named
    for that; other resources belong to the session.

    Args:
        tasks: The tasks by device.
        home: The device of variables that have none.
        own_resources: The session's resources so far.

    Attributes:
        devices: The devices of the tasks.
    """

    def __init__(self, tasks: Mapping[DeviceSpecV2, TaskState], home: DeviceSpecV2,
                 own_resources: Mapping[Any, Any]) -> None:
        super().__init__(own_resources)
        self._by_device = tasks
        self._home = home
        self.devices = self._devices()

    def _devices(self) -> Devices:
        return Devices(tuple(self._by_device), self._home)

    def variable(self, device: str, container: str, name: str) -> Any:
        """The key of a variable whose handle is on this device."""
        return 'variable', device_for(device, self.devices, True) or self._home, container, name

    def shared(self, kind: str, device: str, container: str, name: str) -> Any:
        """The key of another resource that sessions share by its name, such as an iterator's."""
        return (*self.variable(device, container, name), kind)

    def _of(self, key: Any) -> dict[Any, Any] | None:
        return self._by_device[key[1]].variables if type(key) is tuple and key[:1] == ('variable',) else None

    def get(self, key: Any, default: Any = None) -> Any:
        shared = self._of(key)
        return super().get(key, default) if shared is None else shared.get(key[2:], default)

    def setdefault(self, key: Any, default: Any = None) -> Any:
        shared = self._of(key)
        return super().setdefault(key, default) if shared is None else shared.setdefault(key[2:], default)

    def __setitem__(self, key: Any, value: Any) -> None:
        shared = self._of(key)
        if shared is None:
            super().__setitem__(key, value)
        else:
            shared[key[2:]] = value

    def pop(self, key: Any, *default: Any) -> Any:
        shared = self._of(key)
        return super().pop(key, *default) if shared is None else shared.pop(key[2:], *default)

    def values(self) -> Any:
        return [*super().values(), *(value for task in self._by_device.values() for value in task.variables.values())]


def resources(target: str, own_resources: Mapping[Any, Any]) -> TaskVariables:
    """The resources of a session on a server of this process.

    Args:
        target: Target of the server.
        own_resources: The session's resources so far.

    Raises:
        UnavailableError: The server is not in this process.
    """
    return TaskVariables(_cluster_of(target), _find_server(target).device, own_resources)


def check_function(ops: Iterable[Operation]) -> None:
    """Check that the device of each node of a function is available, in the program or on a server of this process.

    Raises:
        InvalidArgumentError: One is not.
    """
    devices = Devices((LOCAL, *(task.device for task in list(_tasks.values()))))
    for op in in_order(ops):
        if op.device and device_for(op.device, devices, get_soft_device_placement()) is None:
            raise InvalidArgumentError(None, None, unplaceable(op, Devices()))


def check_target(target: str) -> None:
    """Refuse an invalid target.

    Raises:
        NotFoundError: It is no server's target.
        InvalidArgumentError: It names none.
    """
    other = transport_of(target)
    if other is not None:
        other.check(target)
        return
    if not target.startswith(_SCHEME):
        raise NotFoundError(None, None, f'No session factory registered for the given session options: {{target: "{target}" '
                                        f'config: }} Registered factories are {{{", ".join(_factories("SESSION"))}, '
                                        f'DIRECT_SESSION}}.{_hint(target.partition("://")[0])}')
    place = target.removeprefix(_SCHEME)
    if not re.fullmatch(r'[^:]+:\d+', place):
        raise InvalidArgumentError(None, None, f'Could not interpret "{place}" as a host-port pair.')


def _find_server(target: str) -> _Task:
    task = _tasks.get(target.removeprefix(_SCHEME))
    if task is None:
        near = f' Servers of this process: {", ".join(_SCHEME + address for address in _tasks)}.' if _tasks else ''
        raise UnavailableError(None, None, f'failed to connect to all addresses; no server of this process is at {target}, '
                                           f'and those of others cannot be reached.{near}')
    return task


def _cluster_of(target: str) -> dict[DeviceSpecV2, _Task]:
    """The tasks of a server's cluster in this process, by device, its own first."""
    own_task = _find_server(target)
    tasks = {own_task.device: own_task}
    for job in own_task.cluster.jobs:
        for address in own_task.cluster.job_tasks(job):
            task = _tasks.get(address)
            if task is not None and task.device.job == job:
                tasks.setdefault(task.device, task)
    return tasks


def reset(target: str, containers: Any = None) -> None:
    """Delete the variables in containers (by default in the default one) of a server and its cluster.

    Raises:
        NotFoundError: It is no server's target.
        UnavailableError: The server is not in this process.
    """
    if not target:
        return
    check_target(target)
    names = frozenset(name.decode() if isinstance(name, bytes) else name for name in containers or ('',))
    other = transport_of(target)
    if other is not None:
        other.reset(target, names)
        return
    for task in _cluster_of(target).values():
        task.delete(names)


def _factories(kind: str) -> list[str]:
    """TensorFlow's names of what there is for each protocol."""
    return [f'{scheme.upper()}_{kind}' for scheme in ('grpc', *schemes())]


def _hint(protocol: str) -> str:
    return ' `import pyfuncdbg.distributed` registers that of Dask.' if protocol == 'dask' else ''

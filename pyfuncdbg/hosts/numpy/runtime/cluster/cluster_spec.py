"""`tf.train.ClusterSpec`: the jobs of a cluster and the addresses of their tasks. Data only."""
from __future__ import annotations

from collections.abc import Mapping
from typing import Any


class ClusterSpec:
    """Addresses by job and task.

    Args:
        cluster: A mapping from job to a list of addresses, or to a mapping from task index to address; another spec; or a
            ClusterDef.

    Raises:
        TypeError: `cluster` is none of these.
    """

    def __init__(self, cluster: Any) -> None:
        self._jobs: dict[str, dict[int, Any]] = {}
        if isinstance(cluster, ClusterSpec):
            self._jobs = {job: dict(tasks) for job, tasks in cluster._jobs.items()}
        elif isinstance(cluster, dict):
            for job, tasks in cluster.items():
                self._jobs[_text(job, 'Job name')] = _tasks(job, tasks)
        elif getattr(getattr(cluster, 'DESCRIPTOR', None), 'name', '') == 'ClusterDef':
            self._jobs = {job.name: dict(job.tasks) for job in cluster.job}
        else:
            raise TypeError('`cluster` must be a dictionary mapping one or more job names to lists of network addresses, or '
                            'a `ClusterDef` protocol buffer')

    def as_dict(self) -> dict[str, Any]:
        """By job: a list of addresses, or a mapping where the indices are not 0, 1, ..."""
        jobs: dict[str, Any] = {}
        for job, tasks in self._jobs.items():
            dense = tasks and sorted(tasks) == list(range(len(tasks)))
            jobs[job] = [tasks[i] for i in range(len(tasks))] if dense else dict(tasks)
        return jobs

    def as_cluster_def(self) -> Any:
        """A ClusterDef."""
        from pyfuncdbg.hosts.numpy.graph.proto.messages import ClusterDef
        message = ClusterDef()
        for job in sorted(self._jobs):
            added = message.job.add(name=job)
            for index, address in sorted(self._jobs[job].items()):
                added.tasks[index] = address
        return message

    @property
    def jobs(self) -> list[str]:
        """The names of the jobs."""
        return list(self._jobs)

    def num_tasks(self, job_name: str) -> int:
        """The number of tasks of a job.

        Raises:
            ValueError: There is no such job.
        """
        return len(self._of(job_name))

    def task_indices(self, job_name: str) -> list[int]:
        """The indices of a job's tasks.

        Raises:
            ValueError: There is no such job.
        """
        return sorted(self._of(job_name))

    def task_address(self, job_name: str, task_index: int) -> Any:
        """The address of a task.

        Raises:
            ValueError: No such job or task.
        """
        tasks = self._of(job_name)
        if task_index not in tasks:
            raise ValueError(f'No task with index {task_index!r} in job {job_name!r}')
        return tasks[task_index]

    def job_tasks(self, job_name: str) -> list[Any]:
        """The addresses of a job's tasks, None for missing indices.

        Raises:
            ValueError: There is no such job.
        """
        tasks = self._of(job_name)
        return [tasks.get(index) for index in range(max(tasks, default=-1) + 1)]

    def _of(self, job_name: str) -> Mapping[int, Any]:
        try:
            return self._jobs[job_name]
        except (KeyError, TypeError):
            raise ValueError(f'No such job in cluster: {job_name!r}') from None

    def __bool__(self) -> bool:
        return bool(self._jobs)

    __nonzero__ = __bool__

    def __eq__(self, other: object) -> bool:
        return isinstance(other, ClusterSpec) and self._jobs == other._jobs

    def __hash__(self) -> int:
        raise TypeError("unhashable type: 'ClusterSpec'")

    def __repr__(self) -> str:
        jobs = self.as_dict()
        return f'ClusterSpec({{{", ".join(f"{job!r}: {jobs[job]!r}" for job in sorted(jobs))}}})'


def _text(value: Any, what: str) -> Any:
    if not isinstance(value, (str, bytes)):
        raise TypeError(f'{what} {value!r} must be bytes or unicode')
    return value.decode() if isinstance(value, bytes) and what == 'Job name' else value


def _tasks(job: Any, tasks: Any) -> dict[int, Any]:
    if isinstance(tasks, (list, tuple)):
        tasks = dict(enumerate(tasks))
    if not isinstance(tasks, dict):
        raise TypeError(f'The tasks for job {job!r} must be a list or a dictionary from integers to strings.')
    return {int(index): _text(address, 'Task address') for index, address in tasks.items()}

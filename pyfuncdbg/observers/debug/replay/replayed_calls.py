"""`replay --all`: replays of many calls, each in its own state, and the outcomes that are not the same.

Runs the program's own functions, on the thread of the command.
"""
from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Literal, overload

from pyfuncdbg.errors import CommandError
from pyfuncdbg.observers.debug.replay.call_audit import difference_text
from pyfuncdbg.observers.debug.replay.named_code import describe_replays
from pyfuncdbg.observers.debug.replay.python_sites import python_sites
from pyfuncdbg.observers.debug.replay.replay import LoadHost, Replayer
from pyfuncdbg.observers.debug.replay.replay_verdict import DIFFERS, RAISES, RNG_UNKNOWN, SAME, Replay, Verdict
from pyfuncdbg.observers.record.index.decode import call_number
from pyfuncdbg.observers.record.records import CallRecord
from pyfuncdbg.observers.record.trace import NumberedCalls, Trace

_LONGEST = 160
_MOST_REASONS = 20


@dataclass(frozen=True, slots=True)
class CallOutcome:
    """Replay of one of many calls.

    Attributes:
        number: Of the call.
        label: Its site and ordinal.
        function: Qualified name of its function.
        verdict: As of `Replay`; 'not replayed' if that cannot be.
        text: The difference; why it was not replayed; '' where there is nothing to say.
        remarks: What could not be restored.
        files: Files of the program whose code ran.
        edited: Whether the source of the function is another now.
    """

    number: str
    label: str
    function: str
    verdict: Verdict | Literal['not replayed']
    text: str = ''
    remarks: tuple[str, ...] = ()
    files: tuple[str, ...] = ()
    edited: bool = False


@dataclass(frozen=True, slots=True)
class FunctionReplays:
    """The replays of one function.

    Attributes:
        function: Its qualified name.
        calls: How many calls of it there are.
        verdicts: How many have each verdict.
        edited: Whether its source is another now.
    """

    function: str
    calls: int
    verdicts: dict[str, int]
    edited: bool


@dataclass(frozen=True, slots=True)
class ReplayedCalls:
    """Result of `replay --all`.

    Attributes:
        calls: How many calls there are.
        verdicts: How many have each verdict.
        functions: By function, those first whose calls are not all the same.
        outcomes: The first calls that are not the same and were replayed, at most `limit`.
        refusals: Why calls were not replayed, with how many.
        remarks: What could not be restored, with how many calls.
        files: Files of the program whose code ran.
        limit: As asked for.
    """

    calls: int
    verdicts: dict[str, int]
    functions: tuple[FunctionReplays, ...]
    outcomes: tuple[CallOutcome, ...]
    refusals: dict[str, int]
    remarks: dict[str, int]
    files: tuple[str, ...]
    limit: int

    @property
    def same(self) -> bool:
        """Whether each call gave what it gave, bit for bit."""
        return self.verdicts == {SAME: self.calls}


Spread = Callable[[Sequence[str]], Iterable[CallOutcome]]
"""From numbers of calls to their outcomes, in their order."""


class WrittenNumbers(Sequence[str]):
    """Numbers of many calls as users see them, made when they are asked for.

    Args:
        calls: Columns of the numbers.
    """

    def __init__(self, calls: NumberedCalls) -> None:
        self._calls = calls

    def __len__(self) -> int:
        return len(self._calls.ids)

    @overload
    def __getitem__(self, place: int) -> str: ...
    @overload
    def __getitem__(self, place: slice) -> list[str]: ...
    def __getitem__(self, place: int | slice) -> str | list[str]:
        if isinstance(place, int):
            return call_number(int(self._calls.processes[place]), int(self._calls.ids[place]))
        return [call_number(*pair) for pair in zip(self._calls.processes[place].tolist(), self._calls.ids[place].tolist(),
                                                   strict=True)]


class CallsReplayer:
    """Replays calls of Python functions.

    Args:
        trace: The recording.
        load_host: Gives the host of a call.
        trust: Whether functions that no file has may be taken from the trace.
    """

    def __init__(self, trace: Trace, load_host: LoadHost, trust: bool = False) -> None:
        self._trace = trace
        self._load_host = load_host
        self._trust = trust

    def run(self, site: str, limit: int, tell: Callable[[int, int], None] | None = None,
            announce: Callable[[str], object] = lambda text: None, spread: Spread | None = None) -> ReplayedCalls:
        """Replay all calls of Python functions.

        Args:
            site: Glob on node name, op type or function name; '' for all.
            limit: Outcomes in the result.
            tell: Told how many calls are done, of how many.
            announce: Gets a sentence that says what will run, before it does.
            spread: Replays calls elsewhere, and gives their outcomes in their order; None: here.

        Returns:
            The result.

        Raises:
            CommandError: No site matches.
        """
        matches = python_sites(self._trace, site)
        announce(describe_replays([(use.site.function, use.site.filename) for use in matches],
                                  sum(use.calls for use in matches)))
        numbers = WrittenNumbers(self._trace.call_numbers(kind='python', site=site or None))
        outcomes = spread(numbers) if spread is not None else map(self.replay, numbers)
        return _summed(_told(outcomes, tell, len(numbers)), limit)

    def replay(self, number: str) -> CallOutcome:
        """Replay one call.

        Args:
            number: Of the call.

        Returns:
            The outcome.
        """
        call = self._trace.call(number)
        if call.duration is None:
            return unreplayed(call, 'the call did not end')
        try:
            with Replayer(self._trace, call, self._load_host, self._trust) as replayer:
                replay = replayer.run()
        except CommandError as error:
            return unreplayed(call, str(error).partition(' cannot be replayed: ')[2] or
                              str(error).partition(' cannot be repeated: ')[2] or str(error))
        return CallOutcome(call.number, call.label, replay.function, replay.verdict, _difference(replay), replay.remarks,
                           replay.files, replay.source is not None)


def unreplayed(call: CallRecord, why: str) -> CallOutcome:
    """The outcome of a call that was not replayed.

    Args:
        call: The call.
        why: The reason.

    Returns:
        The outcome.
    """
    return CallOutcome(call.number, call.label, call.site.function, 'not replayed', why)


def _told(outcomes: Iterable[CallOutcome], tell: Callable[[int, int], None] | None, total: int) -> Iterator[CallOutcome]:
    for number, outcome in enumerate(outcomes, 1):
        if tell is not None:
            tell(number, total)
        yield outcome


def _summed(outcomes: Iterable[CallOutcome], limit: int) -> ReplayedCalls:
    """Count outcomes one by one; only those that are shown stay in memory."""
    by_function: dict[str, Counter[str]] = {}
    shown: list[CallOutcome] = []
    refusals, remarks, files = Counter[str](), Counter[str](), dict[str, None]()
    edited: set[str] = set()
    for outcome in outcomes:
        by_function.setdefault(outcome.function, Counter())[outcome.verdict] += 1
        files.update(dict.fromkeys(outcome.files))
        remarks.update(outcome.remarks)
        if outcome.edited:
            edited.add(outcome.function)
        if outcome.verdict == 'not replayed':
            refusals[outcome.text] += 1
        elif outcome.verdict != SAME and len(shown) < limit:
            shown.append(outcome)
    verdicts = sum(by_function.values(), Counter[str]())
    functions = [FunctionReplays(name, sum(counts.values()), _ordered(counts), name in edited)
                 for name, counts in by_function.items()]
    functions.sort(key=lambda one: set(one.verdicts) == {SAME})
    return ReplayedCalls(verdicts.total(), _ordered(verdicts), tuple(functions), tuple(shown),
                         dict(refusals.most_common(_MOST_REASONS)), dict(remarks.most_common(_MOST_REASONS)), tuple(files),
                         limit)


def _ordered(counts: Counter[str]) -> dict[str, int]:
    order = [SAME, DIFFERS, RAISES, 'not known', RNG_UNKNOWN, 'not replayed']
    return {verdict: counts[verdict] for verdict in order if counts[verdict]}


def _difference(replay: Replay) -> str:
    execution = replay.executions[0]
    recorded = replay.call.error
    if execution.verdict == RAISES:
        before = f'{recorded.type.rpartition(".")[2]}: {recorded.message}' if recorded is not None else 'no exception'
        return f'recorded {before[:_LONGEST]}; now {execution.raised[:_LONGEST] or "no exception"}'
    if execution.verdict != DIFFERS:
        return ''
    if not execution.tensors:
        return f'{len(replay.call.outputs)} outputs recorded, {len(execution.outputs)} now'
    first = execution.tensors[0]
    text = f'{first.kind} {" | ".join(first.texts)}' if first.value is None else difference_text(first.value)
    return f'output {first.slot}: {text}'

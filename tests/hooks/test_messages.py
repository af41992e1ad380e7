"""Warnings that the program's filters let through, and log records."""
from __future__ import annotations

import logging
import sys
import warnings

import pytest
from wrapped_calls import Keeper, wrap

from pyfuncdbg.hooks.capture import Capture


def old(times: int = 1) -> None:
    for _ in range(times):
        warnings.warn('old way', DeprecationWarning, stacklevel=2)


def test_a_warning_is_kept_with_its_line(capture: Capture, keeper: Keeper) -> None:
    def body() -> None:
        old()

    with pytest.warns(DeprecationWarning, match='old way') as theirs:
        wrap(body)()
    output = keeper.calls[0].output
    assert output is not None
    (entry,) = output.entries
    line = body.__code__.co_firstlineno + 1
    assert (entry.kind, entry.text, entry.category) == ('warning', 'old way', 'DeprecationWarning')
    assert (entry.filename, entry.line, entry.function) == (__file__, line, 'body')
    assert [(str(w.message), w.lineno) for w in theirs] == [('old way', line)]


@pytest.mark.parametrize(('action', 'count'), [('always', 3), ('default', 1), ('ignore', 0)])
def test_only_what_the_programs_filters_let_through(action: str, count: int, capture: Capture, keeper: Keeper) -> None:
    with warnings.catch_warnings(record=True) as theirs:
        warnings.simplefilter(action)  # type: ignore[arg-type]
        wrap(lambda: old(3))()
    assert keeper.said() == [('warning', 'old way')] * count
    assert len(theirs) == count


def test_the_memory_of_places_is_the_programs(capture: Capture, keeper: Keeper) -> None:
    function = wrap(lambda: old())
    with warnings.catch_warnings(record=True):
        warnings.simplefilter('default')
        function()
        function()
    assert [keeper.said(0), keeper.said(1)] == [[('warning', 'old way')], []]


def test_a_filter_that_raises_still_raises(capture: Capture, keeper: Keeper) -> None:
    def body() -> str:
        with pytest.raises(DeprecationWarning, match='old way'):
            old()
        return 'raised'

    with warnings.catch_warnings():
        warnings.simplefilter('error')
        assert wrap(body)() == 'raised'
    assert keeper.said() == []


def test_catch_warnings_inside_the_function_keeps_working(capture: Capture, keeper: Keeper) -> None:
    caught: list[str] = []

    def body() -> None:
        with warnings.catch_warnings(record=True) as own:
            warnings.simplefilter('always')
            warnings.warn('recorded', stacklevel=1)
        caught.extend(str(w.message) for w in own)

    wrap(body)()
    assert caught == ['recorded']
    assert keeper.said() == [('warning', 'recorded')]


def test_pytests_recwarn_and_a_replaced_showwarning(
        capture: Capture, keeper: Keeper, recwarn: pytest.WarningsRecorder, monkeypatch: pytest.MonkeyPatch) -> None:
    warnings.simplefilter('always')
    wrap(lambda: warnings.warn('one', stacklevel=1))()
    assert [str(w.message) for w in recwarn] == ['one']
    shown: list[str] = []
    monkeypatch.setattr(warnings, 'showwarning', lambda message, *rest: (shown.append(str(message)), print('shown')))
    wrap(lambda: warnings.warn('two', stacklevel=1))()
    assert shown == ['two']
    assert keeper.said() == [('warning', 'two'), ('out', 'shown\n')]


def test_the_text_that_python_prints_of_a_warning_is_not_a_second_entry(
        capture: Capture, keeper: Keeper, capsys: pytest.CaptureFixture[str], plain_warnings: None) -> None:
    wrap(lambda: warnings.warn('once', stacklevel=1))()
    assert keeper.said() == [('warning', 'once')]
    assert capsys.readouterr().err.count('UserWarning: once') == 1


def test_a_warning_whose_text_cannot_be_made(capture: Capture, keeper: Keeper, monkeypatch: pytest.MonkeyPatch) -> None:
    class Fickle(UserWarning):
        asked = 0

        def __str__(self) -> str:
            Fickle.asked += 1
            if Fickle.asked > 1:                # the interpreter asks once, for the filters
                raise RuntimeError('no text')
            return 'text'

    shown: list[object] = []
    with warnings.catch_warnings():
        warnings.simplefilter('always')
        monkeypatch.setattr(warnings, 'showwarning', lambda message, *rest: shown.append(type(message)))
        wrap(lambda: warnings.warn(Fickle(), stacklevel=1))()
    assert shown == [Fickle]
    assert keeper.said() == [('warning', '(no text: str() failed)')]


def test_log_records_with_level_logger_and_line(capture: Capture, keeper: Keeper, caplog: pytest.LogCaptureFixture) -> None:
    logger = logging.getLogger('demo.train')
    logger.setLevel(logging.INFO)

    def body() -> None:
        logger.info('step %d of %s', 3, 'nine')
        logger.debug('not enabled')

    wrap(body)()
    output = keeper.calls[0].output
    assert output is not None
    (entry,) = output.entries
    assert (entry.kind, entry.text, entry.category) == ('log', 'step 3 of nine', 'INFO demo.train')
    assert (entry.filename, entry.line, entry.function) == (__file__, body.__code__.co_firstlineno + 1, 'body')
    assert [record.getMessage() for record in caplog.records] == ['step 3 of nine']


def test_a_message_that_cannot_be_made_changes_nothing(capture: Capture, keeper: Keeper) -> None:
    class Mute:
        def __str__(self) -> str:
            print('asked')
            raise RuntimeError('no text')

    logger = logging.getLogger('mute')
    logger.propagate = False
    logger.addHandler(logging.NullHandler())
    wrap(lambda: (logger.warning('%d %d', 1), logger.warning('%s', Mute()), logger.warning(Mute())))()
    assert keeper.said() == [('log', '%d %d (its arguments do not match)'), ('log', '%s (its arguments do not match)'),
                             ('log', '(no text: formatting failed)')]


def test_a_factory_of_the_programs_on_top_stays(keeper: Keeper) -> None:
    standing = logging.getLogRecordFactory()
    logger = logging.getLogger('factory')
    logger.propagate = False
    logger.addHandler(logging.NullHandler())
    function = wrap(lambda: logger.warning('x'))
    capture = Capture()
    capture.start()
    below = logging.getLogRecordFactory()
    theirs = lambda *a, **k: below(*a, **k)  # noqa: E731
    logging.setLogRecordFactory(theirs)
    try:
        function()
        capture.stop()
        assert logging.getLogRecordFactory() is theirs
        function()
        capture.start()
        function()                              # noted once, though two of ours are in the chain now
        capture.stop()
        assert logging.getLogRecordFactory() is theirs
    finally:
        logging.setLogRecordFactory(standing)
    assert [call.output and [e.text for e in call.output.entries] for call in keeper.calls] == [['x'], None, ['x']]


def test_a_hook_of_the_programs_on_top_of_warnings_stays(
        keeper: Keeper, recwarn: pytest.WarningsRecorder) -> None:
    warnings.simplefilter('always')
    function = wrap(lambda: warnings.warn('x', stacklevel=1))
    standing = warnings._showwarnmsg  # type: ignore[attr-defined]
    capture = Capture()
    capture.start()
    below = warnings._showwarnmsg  # type: ignore[attr-defined]
    theirs = lambda message: below(message)  # noqa: E731
    warnings._showwarnmsg = theirs  # type: ignore[attr-defined]
    try:
        capture.stop()
        assert warnings._showwarnmsg is theirs  # type: ignore[attr-defined]
        capture.start()
        function()                              # noted once, though two of ours are in the chain now
        capture.stop()
        assert warnings._showwarnmsg is theirs  # type: ignore[attr-defined]
    finally:
        warnings._showwarnmsg = standing  # type: ignore[attr-defined]
    assert keeper.said() == [('warning', 'x')]
    assert len(recwarn) == 1


def test_everything_is_undone() -> None:
    before = warnings._showwarnmsg, logging.getLogRecordFactory(), sys.stdout  # type: ignore[attr-defined]
    capture = Capture()
    capture.start()
    assert warnings._showwarnmsg is not before[0]  # type: ignore[attr-defined]
    capture.stop()
    assert (warnings._showwarnmsg, logging.getLogRecordFactory(), sys.stdout) == before  # type: ignore[attr-defined]


def test_records_made_from_a_dictionary_are_not_said_here(capture: Capture, keeper: Keeper) -> None:
    made: list[logging.LogRecord] = []
    wrap(lambda: made.append(logging.makeLogRecord({'msg': 'from afar', 'name': 'far'})))()
    assert made[0].getMessage() == 'from afar'
    assert keeper.said() == []

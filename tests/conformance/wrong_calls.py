"""Wrong calls made with one backend: what each raises, and what it leaves behind in the graph.

    python tests/conformance/wrong_calls.py BACKEND NAME [LINE...]    prints one line of JSON for each call of a table
    python tests/conformance/wrong_calls.py --record [NAME...]        writes what TensorFlow answers (needs TensorFlow)
    python tests/conformance/wrong_calls.py --differences [NAME...]   writes where pyfuncdbg answers otherwise, with reasons

`wrong_calls/NAME.txt` has one call a line, where `\\n` is a new line. Those of a NAME that begins with `graph` run in a new
graph each, the others eagerly on a new thread each. What TensorFlow answered is beside it in `NAME.jsonl`.
"""
from __future__ import annotations

import ast
import importlib
import json
import os
import re
import signal
import subprocess
import sys
import threading
import tomllib
import warnings
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).parent))
from lines import normal

HERE = Path(__file__).parent
TABLES = HERE / 'wrong_calls'
DIFFERENCES = HERE / 'wrong_calls.toml'
NOT_EXAMINED = 'not examined'
LIMIT = 20
_OPENING = """\
# Wrong calls that pyfuncdbg answers otherwise than TensorFlow, by reason; a test keeps this file exact.
# `python tests/conformance/wrong_calls.py --differences` writes the answers anew and keeps the reasons.
"""
_MACHINERY = [(re.compile(pattern), new) for pattern, new in [
    (r"\bmodule '(?:tensorflow|pyfuncdbg)(?:\.(?:tf|_api|v2|python|compat\.v2))*\.?", "module 'tf."),
    (r"class '(?:tensorflow|pyfuncdbg)(?:\.\w+)*\.(\w+)'", r"class '\1'"),
    (r'(?<=\]) name:.*$', ''),                      # there only where a fast path of TensorFlow took the call
    (r'binary running on \S+\.', 'binary running on HOST.'),
    (r'(?<=[a-z>]_)\d+\b', 'N'),                    # a count of what the process made before
    (r'\b\d{5,}\b', 'N'),
    (r', defined at .*', ''),
]]

Answer = dict[str, Any]


def names() -> list[str]:
    return sorted(path.stem for path in TABLES.glob('*.txt'))


def calls(name: str) -> list[str]:
    return [line for line in (TABLES / f'{name}.txt').read_text().splitlines() if line.strip()]


def recorded(name: str) -> dict[str, Answer]:
    rows = (TABLES / f'{name}.jsonl').read_text().splitlines()
    return {row.pop('call'): row for row in map(json.loads, rows)}


def answers(backend: str, name: str) -> dict[str, Answer]:
    """Make the calls of a table, in a process of their own."""
    places = [str(HERE.parents[1]), *os.environ.get('PYTHONPATH', '').split(os.pathsep)]
    environment = {**os.environ, 'PYTHONPATH': os.pathsep.join(filter(None, places)), 'TF_CPP_MIN_LOG_LEVEL': '3',
                   'CUDA_VISIBLE_DEVICES': '', 'TF_ENABLE_ONEDNN_OPTS': '0', 'PYTHONIOENCODING': 'utf-8'}
    done = subprocess.run([sys.executable, __file__, backend, name], capture_output=True, text=True, env=environment)
    found = {row.pop('call'): row for row in map(json.loads, done.stdout.splitlines())}
    if len(found) != len(calls(name)):
        raise RuntimeError(f'{backend} ended after {len(found)} calls of {name}: {done.stderr[-2000:]}')
    return found


def alike(theirs: Answer, ours: Answer) -> bool:
    """Whether the answers are the same, and nothing stays in the graph that TensorFlow does not leave there."""
    return theirs['answer'] == ours['answer'] and set(ours.get('left', ())) <= set(theirs.get('left', ()))


def shown(answer: Answer) -> str:
    return str(answer['answer']) + (f' and leaves {", ".join(answer["left"])}' if answer.get('left') else '')


def differences() -> dict[str, tuple[str, str]]:
    """What pyfuncdbg answers otherwise and why, by 'NAME CALL'."""
    return {call: (answer, reason) for reason, group in tomllib.loads(DIFFERENCES.read_text()).items()
            for call, answer in group.items()}


# ---------------------------------------------------------------- in the process that makes the calls
def main(backend: str, name: str, chosen: list[str]) -> None:
    out = os.fdopen(os.dup(1), 'w')
    os.dup2(2, 1)                                   # what a call prints is no answer
    warnings.simplefilter('ignore')
    tf = importlib.import_module(backend)
    for code in chosen or calls(name):
        found = _in_graph(tf, code) if name.startswith('graph') else _eagerly(tf, code)
        found['answer'] = _normal(found['answer'], backend)
        out.write(json.dumps({'call': code, **found}) + '\n')
        out.flush()
    os._exit(0)                                     # threads may still be in a call


def _normal(text: str, backend: str) -> str:
    line = ' '.join(normal(text, 'call', backend))
    for pattern, new in _MACHINERY:
        line = pattern.sub(new, line)
    return line


def _names(tf: Any) -> dict[str, Any]:
    def imported(text: str | bytes, **options: Any) -> Any:
        from google.protobuf import text_format
        graph_def = tf.compat.v1.GraphDef()
        if isinstance(text, bytes):
            graph_def.ParseFromString(text)
        else:
            text_format.Parse(text, graph_def)
        return tf.import_graph_def(graph_def, **options)

    return {'tf': tf, 'v1': tf.compat.v1, 'GD': imported, 'np': importlib.import_module('numpy'), 'threading': threading,
            'time': importlib.import_module('time')}


def _eagerly(tf: Any, code: str) -> Answer:
    """On a new thread, for state that belongs to one."""
    found: list[Answer] = []

    def call() -> None:
        try:
            found.append({'answer': _made(code.replace('\\n', '\n'), _names(tf), lambda: None)})
        except BaseException as error:              # the answer
            found.append({'answer': _text(error)})

    thread = threading.Thread(target=call, daemon=True)
    thread.start()
    thread.join(LIMIT)
    return found[0] if found else {'answer': 'HANGS'}


def _in_graph(tf: Any, code: str) -> Answer:
    """On the main thread, where a call that does not end can be ended."""
    before: list[str] = []
    signal.signal(signal.SIGALRM, _too_long)
    signal.alarm(LIMIT)
    with tf.Graph().as_default() as graph:
        try:
            return {'answer': _made(code.replace('\\n', '\n'), _names(tf),
                                    lambda: before.extend(op.name for op in graph.get_operations()))}
        except TooLong:
            return {'answer': 'HANGS'}
        except BaseException as error:              # the answer
            left = [op.name for op in graph.get_operations() if op.name not in before]
            return {'answer': _text(error), **({'left': left} if left else {})}
        finally:
            signal.alarm(0)


class TooLong(BaseException):
    """A call takes longer than any should."""


def _too_long(*_: Any) -> None:
    raise TooLong


def _made(code: str, names: dict[str, Any], ready: Any) -> str:
    """Run the statements; what the last one gives, where it is an expression."""
    body = ast.parse(code).body
    marker = ast.parse('__ready__()').body
    if isinstance(body[-1], ast.Expr):
        body[-1:] = [ast.copy_location(ast.Assign([ast.Name('__last__', ast.Store())], body[-1].value), body[-1])]
    names['__ready__'] = ready
    # As one program: TensorFlow dies when it shows where a node was made and that code is gone.
    exec(compile(ast.fix_missing_locations(ast.Module([*body[:-1], *marker, body[-1]], [])), '<call>', 'exec'), names)
    return f'gives {names["__last__"]!r}'[:150] if '__last__' in names else 'passes'


def _text(error: BaseException) -> str:
    """Class and first line; of an error in a run also the line about the node, of one told with the user's code the last."""
    lines = str(error).split('\n')
    first = lines[0]
    if first == 'in user code:':
        first = next(line for line in reversed(lines) if line.strip()).strip().removeprefix(f'{type(error).__name__}: ')
    if first.startswith('Graph execution error'):
        told = [lines[i - 1] for i in range(1, len(lines)) if '[[{{' in lines[i]]
        first += ' ' + ' '.join(told or [line for line in lines[1:] if line][:1])
    return f'{type(error).__name__}: {first}'.rstrip()


# ---------------------------------------------------------------- writing
def record(chosen: list[str]) -> None:
    for name in chosen or names():
        found = answers('tensorflow', name)
        rows = [json.dumps({'call': call, **row}) for call, row in found.items()]
        (TABLES / f'{name}.jsonl').write_text('\n'.join(rows) + '\n')


def write_differences(chosen: list[str]) -> None:
    known = differences() if DIFFERENCES.exists() else {}
    groups: dict[str, list[tuple[str, str]]] = {}
    for name in names():
        theirs = recorded(name)
        listed = {key.partition(' ')[2]: value for key, value in known.items() if key.startswith(f'{name} ')}
        if chosen and name not in chosen:
            found = {call: (answer, reason) for call, (answer, reason) in listed.items()}
        else:
            ours = answers('pyfuncdbg.tf', name)
            found = {call: (shown(ours[call]), listed.get(call, ('', NOT_EXAMINED))[1])
                     for call in theirs if not alike(theirs[call], ours[call])}
        for call, (answer, reason) in found.items():
            groups.setdefault(reason, []).append((f'{name} {call}', answer))
    parts = [_OPENING]
    for reason, rows in sorted(groups.items()):
        parts.append(f'[{_quoted(reason)}]\n' + ''.join(f'{_quoted(call)} = {_quoted(answer)}\n' for call, answer in rows))
    DIFFERENCES.write_text('\n'.join(parts))


def _quoted(text: str) -> str:
    return json.dumps(text, ensure_ascii=False).replace('\x7f', '\\u007f')


if __name__ == '__main__':
    if sys.argv[1] == '--record':
        record(sys.argv[2:])
    elif sys.argv[1] == '--differences':
        write_differences(sys.argv[2:])
    else:
        main(sys.argv[1], sys.argv[2], sys.argv[3:])

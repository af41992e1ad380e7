"""The house rules, read from the source: who imports whom, how long things are, and what is loaded when.

Each rule is a function from source text to complaints; the samples at the end prove that each can complain.
"""
from __future__ import annotations

import ast
import dataclasses
import importlib
import inspect
import io
import re
import shutil
import subprocess
import sys
import tokenize
import types
import typing
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence, Set as AbstractSet
from functools import cache
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

from pyfuncdbg.observers.record import records
from pyfuncdbg.ui.views.page import Fitted

ROOT = Path(__file__).resolve().parents[1]
PACKAGE = ROOT / 'pyfuncdbg'

FRONT_DOOR = ''
"""The package's own `__init__`: it may import everything, and only those who stand before it may import it."""

NUMPY = 'hosts.numpy.ops hosts.numpy.runtime hosts.numpy.graph'
OBSERVERS = 'observers.debug observers.record'
BELOW = f'{OBSERVERS} tf {NUMPY} hosts hosts.interception hooks errors'
"""No host of a real framework: those have names for `hosts` alone, which lists them."""
# What each room may import: those to its right.
ALLOWED = {
    'tf': f'{NUMPY} hooks errors',
    'hosts.numpy': '',
    'hosts.numpy.ops': 'hosts.numpy.runtime hosts.numpy.graph hooks errors',
    'hosts.numpy.runtime': 'hosts.numpy.graph hooks errors',
    'hosts.numpy.graph': 'hooks errors',
    'hosts': 'hosts.tensorflow hosts.torch hosts.jax hosts.interception hooks errors',      # attaches them
    'hosts.tensorflow': 'hosts.interception hooks errors',
    'hosts.torch': 'hosts.interception hooks errors',
    'hosts.jax': 'hosts.interception hooks errors',
    'hosts.interception': 'hooks errors',
    'observers': '',
    'observers.debug': 'observers.record hooks errors',
    'observers.record': 'hooks errors',
    'hooks': 'errors',
    'errors': '',
    'ui': '',
    'ui.views': f'{OBSERVERS} hooks errors',                            # pictures come from saved data: no host
    'ui.html': f'ui.views {OBSERVERS} hooks errors',
    'ui.commands': f'ui.html ui.views distributed {BELOW}',
    'ui.prompt': f'ui.commands ui.views {BELOW}',
    'ui.inspector': f'ui.prompt ui.commands ui.views {BELOW}',
    'ui.ipython': f'ui.inspector ui.prompt ui.commands ui.html ui.views {BELOW}',
    'session': f'ui.ipython ui.inspector ui.prompt ui.commands ui.views {BELOW}',
    'cli': f'session ui.ipython ui.inspector ui.prompt ui.commands ui.views {BELOW}',
    '__main__': 'cli',
    'distributed': 'observers.record hosts hosts.numpy.runtime hosts.numpy.graph hooks errors',     # workers of a cluster
    'demo': 'tf',                                                       # a user's program
}
BEFORE_THE_DOOR = {'cli', 'session', 'ui.ipython', 'ui.inspector', 'ui.prompt', 'demo'}

SUBFOLDERS = {
    'hosts.numpy.ops': 'data autograph graphs script ragged sparse training control checks variables nn random sums strings '
                       'linalg arrays elementwise definition',
    'hosts.numpy.runtime': 'tasks functions control_flow traces differentiation sessions autograph plans backward eager '
                           'cluster execution',
    'hosts.numpy.graph': 'proto definitions types',
    'hosts.jax': 'doctor graph_ops callbacks runs programs',
    'hosts.tensorflow': 'graph_ops tapes doctor sessions python_calls nodes',
    'hosts.torch': 'graph_ops tapes doctor loader python_calls',
    'observers.debug': 'replay comparison diagnosis cards reports numerics gradients stepping breakpoints inspecting lines '
                       'stops conditions processes',
    'observers.record': 'flight transfer index log processes snapshots sources',
    'hooks': 'output',
    'ui.views': 'reports numerics graph calls tensors pictures sources',
    'ui.commands': 'programs socket exports engine',
    'ui.prompt': 'processes connecting lending front_ends terminal_io',
    'ui.inspector': 'hosting lease screen panes lists desks',
    'tf': 'contrib compat data autograph',
}
"""The sub-folders of each room: those to the left may import those to their right. Files in none stand beside them all."""
UPWARDS = {
    ('pyfuncdbg.hosts.numpy.graph.types.shapes', 'pyfuncdbg.hosts.numpy.graph.proto.messages'),     # `TensorShape.as_proto`
}

# Parts of each other: a call names its host and a host is asked about calls; a node has outputs and an output is of a node.
CIRCLES = {frozenset({'pyfuncdbg.hooks.call', 'pyfuncdbg.hooks.host'}),
           frozenset({'pyfuncdbg.hosts.numpy.graph.operation', 'pyfuncdbg.hosts.numpy.graph.symbolic_tensor'})}

OPENINGS = {'open', 'fdopen', 'stat', 'lstat', 'read_text', 'read_bytes', 'getline', 'getlines', 'getsource',
            'getsourcelines', 'linecache', 'tokenize', 'inspect', 'pathlib', 'io'}
"""Functions and modules by which a text of a file may be had."""

LEAVES: tuple[Any, ...] = (bool, int, float, complex, str, bytes, object, Any, None, type(None), ..., slice, ast.AST, Fitted)
CONTAINERS: tuple[Any, ...] = (tuple, list, dict, frozenset, Mapping, Sequence, Collection, Iterable, AbstractSet,
                               typing.Union, types.UnionType)
"""What plain data is made of, beside frozen dataclasses, Protocols of properties, arrays, exceptions and rich's texts."""

FRAMEWORKS = re.compile(r'tensorflow|keras|autograph|jax|torch|(?<!%)py_?func(?!dbg)|numpy_function|\btf\b|\btf_',
                        re.IGNORECASE)
"""What names a framework, or its ops that call a Python function. `%pyfunc` is our magic."""

CHAIN_FOR_HOSTS = {'call_unwatched', 'current_call', 'hooks', 'invoke', 'invoke_afterwards', 'report_failure'}
HOOKS_FOR_HOSTS = {'python', 'op', 'gradient', 'run', 'passive', 'summaries', 'stamp', 'ask_interest', 'ignores_function',
                   'subscribe', 'is_ignored', 'fast_watcher', 'sole_taker', 'op_recorder', 'add_delivery'}
"""What hosts use: kinds of calls with hooks, whether a run is steered, interest that spares making a site or a `Run`."""

HEAVY = {'rich', 'textual', 'IPython', 'tensorflow', 'jax', 'torch', 'debugpy'}
NAMELESS = {'util', 'utils', 'helper', 'helpers', 'common', 'base', 'misc'}
NOUNS = frozenset("""
    batching binding clipping counting debugging feeding fetching filling finding gathering heading indexing joining listing
    logging mapping naming ordering padding patching pooling printing ragged rearranging reducing retracing shaping slicing
    solving sorting stepping timing
""".split())
"""What the field or TensorFlow calls an operation or a thing, though it looks like a participle: it may name a module."""
NO_NOUNS = frozenset("""
    begun bound built done drawn fed found given gone held kept known left lent made meant met put said seen sent shown taken
    thrown told written
    afterwards again already anew apart else here late later midway never once otherwise soon still then there together
    about above after against around at before behind below beside between beyond by during for from in inside into of on
    outside over to toward under until within without
""".split())
"""Irregular participles, adverbs and prepositions."""
LONGEST_FILE, LONGEST_FUNCTION = 400, 40
LONGEST_SENTENCE = 20
"""Words of the sentence that a module or class begins with."""
QUESTION = re.compile(r'(What|How|Which|Where|Why|When|Who|Whether)\b')
IDIOM = re.compile(r'\b(somebody|nobody|stands? for|(is|are) told|in the place of|comes? by|as it stands|who looks|of which|'
                   r'whoever)\b', re.IGNORECASE)
"""What documentation says in the field's terms instead."""

# Written in pieces, so that this file does not name them.
WORKSHOP = re.compile('|'.join(['[.][.]/' + 'shared', '/' + r'work/\w', '/tmp' + r'/w/', r'\bDES' + r'IGN\b',
                                'issue ' + r'2\b']))


COMPLETE_DOCS = ('__init__.py', 'hooks/**/*.py', 'ui/commands/engine/*.py', 'hosts/numpy/runtime/execution/host.py',
                 'hosts/tensorflow/host.py', 'observers/record/**/*.py')
"""Files whose public functions say each argument, result and error."""

STRINGS = {tokenize.STRING, getattr(tokenize, 'FSTRING_MIDDLE', tokenize.STRING)}
BETWEEN = {tokenize.NL, tokenize.COMMENT, tokenize.INDENT, tokenize.DEDENT, tokenize.ENCODING}
"""Tokens that no statement begins or ends with."""

# An import of Cython, which is no Python; between parentheses it may go on.
_NAME = r'\w+(?:\.\w+)*(?: as \w+)?'
CYTHON_IMPORT = re.compile(
    rf'^[ \t]*(from [\w.]+ c?import (?:\([^()]*\)|[^()#\n]+)|c?import {_NAME}(?:, *{_NAME})*)[ \t]*(?:#.*)?$', re.MULTILINE)


def sources() -> list[Path]:
    return sorted(PACKAGE.rglob('*.py'))


def compiled() -> list[Path]:
    """The C types of compiled modules: the rules on imports and on the length of files hold for them too."""
    return sorted(PACKAGE.rglob('*.pxd'))


def name_of(path: Path) -> str:
    return path.relative_to(ROOT).as_posix()


# --- the rules ------------------------------------------------------------------------------------------------------

@cache
def nodes(source: str) -> tuple[ast.AST, ...]:
    """All of a file, read once for all rules."""
    return tuple(ast.walk(ast.parse(source)))


def imported_names(source: str, path: str) -> Iterator[tuple[int, str]]:
    """(line, dotted name) for everything of this package that a file imports, at whatever depth and for whatever reason."""
    package = path.split('/')[:-1]
    if not path.endswith('.py'):
        source = python_imports(source)

    for node in nodes(source):
        if isinstance(node, ast.Import):
            found = [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom):
            start = package[:len(package) - node.level + 1] if node.level else []
            module = '.'.join([*start, *([node.module] if node.module else [])])
            found = [f'{module}.{alias.name}' for alias in node.names]
        elif isinstance(node, ast.Call) and _called(node) in ('import_module', '__import__', 'find_spec'):
            found = [arg.value for arg in node.args[:1] if isinstance(arg, ast.Constant) and isinstance(arg.value, str)]
        else:
            continue
        yield from ((node.lineno, dotted) for dotted in found if dotted.split('.')[0] == 'pyfuncdbg')


def imported(source: str, path: str) -> Iterator[tuple[int, str]]:
    """(line, room) for everything of this package that a file imports."""
    return ((line, room_of(dotted)) for line, dotted in imported_names(source, path))


def dotted_name(path: str) -> str:
    """'pyfuncdbg.hooks.call' of 'pyfuncdbg/hooks/call.py'; of an `__init__` that of its package."""
    return path.rpartition('.')[0].replace('/', '.').removesuffix('.__init__')


def module_imports(texts: dict[str, str]) -> dict[str, set[str]]:
    """By module the modules that it imports, of files given by path; what is imported from a module counts as the module."""
    modules = {dotted_name(path) for path in texts}
    found: dict[str, set[str]] = {name: set() for name in modules}
    for path, text in texts.items():
        importer = dotted_name(path)
        for _, dotted in imported_names(text, path):
            while dotted and dotted not in modules:
                dotted = dotted.rpartition('.')[0]
            if dotted not in ('', importer):
                found[importer].add(dotted)
    return found


def circles(imports: dict[str, set[str]]) -> set[frozenset[str]]:
    """The modules of which each imports all others of its set, by whatever way: the strongly connected components."""
    left = dict(imports)
    while ends := [name for name, targets in left.items() if not any(target in left for target in targets)]:
        for name in ends:                       # it imports none that could lead back to it
            del left[name]
    reached = {name: _reached(name, left) for name in left}
    return {frozenset(other for other in reached[name] if name in reached[other]) for name in left if name in reached[name]}


def _reached(name: str, imports: dict[str, set[str]]) -> set[str]:
    """The modules of a table that a module imports, by whatever way."""
    found: set[str] = set()
    waiting = [name]
    while waiting:
        for target in imports[waiting.pop()]:
            if target in imports and target not in found:
                found.add(target)
                waiting.append(target)
    return found


def upward_imports(imports: dict[str, set[str]]) -> set[tuple[str, str]]:
    """Imports between sub-folders of one room that `SUBFOLDERS` does not allow, or that are of none it names."""
    found = set()
    for importer, targets in imports.items():
        for target in targets:
            room = room_of(importer)
            if room == room_of(target) and room in SUBFOLDERS:
                above, below = (subfolder(name, room) for name in (importer, target))
                order = ['', *SUBFOLDERS[room].split()]
                if above and below and above != below and not (
                        above in order and below in order and order.index(above) < order.index(below)):
                    found.add((importer, target))
    return found


def subfolder(dotted: str, room: str) -> str:
    """'plans' of 'pyfuncdbg.hosts.numpy.runtime.plans.plan'; '' of a module that is in none."""
    folder, _, module = dotted.removeprefix(f'pyfuncdbg.{room}').lstrip('.').partition('.')
    return folder if module else ''


def room_of(dotted: str) -> str:
    """'observers.debug' of 'pyfuncdbg.observers.debug.stops.stop': the innermost room; of other names the front door."""
    parts = dotted.split('.')[1:]
    names = ('.'.join(parts[:end]) for end in range(len(parts), 0, -1))
    return next((name for name in names if name in ALLOWED), FRONT_DOOR)


def python_imports(source: str) -> str:
    """The imports of a Cython file as Python, on the lines where they stand."""
    lines = [''] * (source.count('\n') + 1)
    for found in CYTHON_IMPORT.finditer(source):
        first = source.count('\n', 0, found.start())
        lines[first] = ' '.join(found[1].replace('cimport', 'import').split())
    return '\n'.join(lines)


def _called(node: ast.Call) -> str:
    return node.func.attr if isinstance(node.func, ast.Attribute) else getattr(node.func, 'id', '')


def wrong_imports(source: str, path: str) -> list[str]:
    dotted = dotted_name(path)
    here = room_of(dotted)
    if dotted == 'pyfuncdbg':
        return []
    if here == FRONT_DOOR:
        return [f'{path}: there is no such room in the house']
    return [f'{path}:{line}: {here} imports {room or "the front door"}'
            for line, room in dict.fromkeys(imported(source, path)) if room != here
            and room not in (*ALLOWED[here].split(), *([FRONT_DOOR] if here in BEFORE_THE_DOOR else []))]


@cache
def comments(source: str) -> dict[int, str]:
    tokens = tokenize.generate_tokens(io.StringIO(source).readline)
    return {token.start[0]: token.string for token in tokens if token.type == tokenize.COMMENT}


def _code_lines(node: ast.FunctionDef | ast.AsyncFunctionDef) -> int:
    first = node.body[0]
    text = isinstance(first, ast.Expr) and isinstance(first.value, ast.Constant) and isinstance(first.value.value, str)
    docstring = first.end_lineno - first.lineno + 1 if text and first.end_lineno else 0
    return (node.end_lineno or node.lineno) - node.lineno + 1 - docstring


def long_functions(source: str, path: str) -> list[str]:
    """Functions of more lines than allowed (docstring apart) without a `# long: why` directly above or inside."""
    found = []
    for node in nodes(source):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef) and _code_lines(node) > LONGEST_FUNCTION:
            top = min([node.lineno, *(decorator.lineno for decorator in node.decorator_list)])
            notes = comments(source)
            near = (notes.get(line, '') for line in range(top - 1, (node.end_lineno or top) + 1))
            if not any(re.match(r'# long: \w+ \w+', note) for note in near):
                found.append(f'{path}:{node.lineno}: {node.name} has {_code_lines(node)} lines')
    return found


def broad_excepts(source: str, path: str) -> list[str]:
    """Handlers that would swallow any exception, without a comment on the same line or beside it that says why."""
    found = []
    for node in nodes(source):
        if isinstance(node, ast.ExceptHandler):
            kinds = node.type.elts if isinstance(node.type, ast.Tuple) else [node.type]
            passes_on = any(isinstance(inner, ast.Raise) for inner in ast.walk(node))
            lines = range(node.lineno - 1, node.body[0].lineno + 1)
        elif isinstance(node, ast.Call) and _called(node) == 'suppress':
            kinds, passes_on = list(node.args), False
            lines = range(node.lineno - 1, node.lineno + 2)
        else:
            continue
        names = {getattr(kind, 'id', None) for kind in kinds}       # None for a bare `except:`
        if 'Exception' in names or (names & {'BaseException', None} and not passes_on and _broad(kinds)):
            notes = comments(source)
            reasons = [notes.get(line, '') for line in lines]
            if not any(len(re.sub(r'# (noqa|type:)\S*', '', note).split()) > 3 for note in reasons):
                found.append(f'{path}:{node.lineno}: catches everything, and no comment says why')
    return found


def _broad(kinds: list[ast.expr | None]) -> bool:
    return any(kind is None or (isinstance(kind, ast.Name) and kind.id == 'BaseException') for kind in kinds)


def calls_beside_the_chain(source: str, path: str) -> list[str]:
    """What a host uses of the chain of hooks and of the installed ones, beside making a call and asking whether hooks are
    there."""
    found = []
    for node in nodes(source):
        if isinstance(node, ast.ImportFrom) and node.module == 'pyfuncdbg.hooks.chain':
            found += [(node.lineno, name.name) for name in node.names if name.name not in CHAIN_FOR_HOSTS]
        elif isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name) and node.value.id == 'hooks' and (
                node.attr not in HOOKS_FOR_HOSTS):
            found.append((node.lineno, f'hooks.{node.attr}'))
    return [f'{path}:{line}: uses {name}: `chain.invoke` alone decides about calls' for line, name in found]


def op_names(source: str, path: str, ops: set[str]) -> list[str]:
    """Op types that a file names in a string of its code."""
    return [f'{path}:{node.lineno}: names the op {node.value!r}' for node in nodes(source)
            if isinstance(node, ast.Constant) and isinstance(node.value, str) and node.value in ops]


def framework_names(source: str, path: str) -> list[str]:
    """Names and strings of code, Cython's too, that name a framework; docstrings and comments may."""
    found, begins = [], True
    for token in tokenize.generate_tokens(io.StringIO(source).readline):
        is_text = token.type in STRINGS
        if (token.type == tokenize.NAME or (is_text and not begins)) and FRAMEWORKS.search(token.string):
            found.append(f'{path}:{token.start[0]}: names a framework: {token.string[:60]}')
        if token.type not in BETWEEN:
            begins = token.type == tokenize.NEWLINE
    return found


def fragile_locks(source: str, path: str) -> list[str]:
    """Locks of the program's process that a forked child would inherit as they are; a condition may be given a lock."""
    return [f'{path}:{node.lineno}: {_called(node)}: a forked child needs one of `hooks.locks`'
            for node in nodes(source) if isinstance(node, ast.Call)
            if _called(node) in ('Lock', 'RLock', 'Condition') and isinstance(node.func, ast.Attribute)
            and ast.unparse(node.func.value) == 'threading' and not node.args]


def openings(source: str, path: str) -> list[str]:
    """Where a file may be opened or looked at."""
    found = []
    for node in nodes(source):
        named: list[str] = []
        if isinstance(node, ast.Call):
            named = [_called(node)]
        elif isinstance(node, ast.ImportFrom):
            named = [node.module or '']
        elif isinstance(node, ast.Import):
            named = [alias.name for alias in node.names]
        found += [f'{path}:{node.lineno}: {name}' for name in named if name.split('.')[0] in OPENINGS]
    return found


def not_plain(kind: Any, seen: set[Any]) -> Iterator[str]:
    """Parts of a type that are no plain data: what is called, opened or asked, and what may change."""
    if kind in seen or kind in LEAVES:
        return
    seen.add(kind)
    origin, parts = typing.get_origin(kind), typing.get_args(kind)
    fields: dict[str, Any] = {}
    if origin in CONTAINERS:
        fields = {str(part): part for part in parts}
    elif dataclasses.is_dataclass(kind) and kind.__dataclass_params__.frozen:
        hints = typing.get_type_hints(kind)
        fields = {field.name: hints[field.name] for field in dataclasses.fields(kind) if not field.name.startswith('_')}
    elif isinstance(kind, type) and issubclass(kind, tuple):
        fields = typing.get_type_hints(kind)
    elif isinstance(kind, type) and getattr(kind, '_is_protocol', False):
        members = {name: member for name, member in vars(kind).items() if not name.startswith('_')}
        if all(isinstance(member, property) for member in members.values()):
            fields = {name: typing.get_type_hints(member.fget)['return'] for name, member in members.items()}
        else:
            yield kind.__name__
    elif origin is not typing.Literal and not (isinstance(kind, type) and (
            issubclass(kind, BaseException) or kind.__module__.partition('.')[0] in ('rich', 'numpy'))):
        yield getattr(kind, '__name__', str(kind))
    yield from (f'{getattr(kind, "__name__", kind)}.{name}: {found}' if origin is None else found
                for name, part in fields.items() for found in not_plain(part, seen))


def lazy_names(kind: type) -> set[str]:
    """Methods and properties of a record that use its private fields, through which a trace is read."""
    private = {field.name for field in dataclasses.fields(kind) if field.name.startswith('_')}
    functions = {name: getattr(member, 'fget', member) for name, member in vars(kind).items()}
    return {name for name, function in functions.items()
            if inspect.isfunction(function) and not name.startswith('__') and private & set(function.__code__.co_names)}


def ways_to_a_trace(module: ModuleType, source: str) -> Iterator[str]:
    """What a view takes, imports or uses that is no plain data; its demo, which asks the sample trace, may."""
    name, tree = module.__name__, ast.parse(source)
    tree.body = [node for node in tree.body if not (isinstance(node, ast.If) and '__main__' in ast.dump(node.test))]
    imported = {alias.asname or alias.name for node in ast.walk(tree) if isinstance(node, ast.ImportFrom)
                and re.match(r'pyfuncdbg[.](observers|hooks)', node.module or '') for alias in node.names}
    for member, value in vars(module).items():
        here = getattr(value, '__module__', '') == name
        if isinstance(value, type) and (member in imported or (here and dataclasses.is_dataclass(value))):
            yield from (f'{name}: class {found}' for found in not_plain(value, set()))
        elif member in imported or here:
            function = value.__init__ if isinstance(value, type) else value
            hints = typing.get_type_hints(function) if inspect.isfunction(function) else {}
            yield from (f'{name}: {member}({key}): {found}' for key, kind in hints.items() if key != 'return'
                        for found in not_plain(kind, set()))
    lazy = {found for kind in vars(records).values() if isinstance(kind, type) and dataclasses.is_dataclass(kind)
            for found in lazy_names(kind)}
    yield from (f'{name}:{node.lineno}: {node.attr} reads the trace' for node in ast.walk(tree)
                if isinstance(node, ast.Attribute) and node.attr in lazy)


def public_classes(source: str) -> list[str]:
    """Names of the classes at the top level of a file that are not private."""
    return [node.name for node in ast.parse(source).body if isinstance(node, ast.ClassDef) and not node.name.startswith('_')]


def nameless(path: Path) -> bool:
    return bool(NAMELESS & {part.partition('.')[0] for part in path.parts})


def no_noun(name: str) -> bool:
    """Whether a module is named by a bare participle, adverb or preposition."""
    return name in NO_NOUNS or (name not in NOUNS and re.fullmatch('[a-z]+(ed|ing|ly)', name) is not None)


def wordy(source: str, path: str) -> list[str]:
    """Modules and classes whose docstring does not begin with a short noun phrase, or has an idiom of our own."""
    found = []
    for node in nodes(source):
        doc = ast.get_docstring(node) if isinstance(node, (ast.Module, ast.ClassDef)) else None
        if not doc:
            continue
        first = ' '.join(doc.partition('\n\n')[0].split()).split('. ')[0]
        name = f'{path}: {getattr(node, "name", "the module")}'
        if QUESTION.match(first):
            found.append(f'{name} begins with a question: {first!r}')
        if len(first.split()) > LONGEST_SENTENCE:
            found.append(f'{name} begins with {len(first.split())} words: {first!r}')
        if (idiom := IDIOM.search(doc)) is not None:
            found.append(f'{name} says {idiom[0]!r}')
    return found


def stale_docs(source: str, path: str) -> list[str]:
    """Arguments and attributes in docstrings that the function or class does not have."""
    found = []
    for node in nodes(source):
        if not isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
            continue
        if isinstance(node, ast.ClassDef):
            names = set(re.findall(r'\w+', ast.unparse([part for part in node.body if not _is_text(part)])))  # type: ignore[arg-type]
        else:
            names = {part.arg for part in ast.walk(node.args) if isinstance(part, ast.arg)}
        for section in re.findall(r'^(Args|Attributes):\n((?: {4}.*\n?|\n)+)', ast.get_docstring(node) or '', re.MULTILINE):
            inherited = isinstance(node, ast.ClassDef) and node.bases and section[0] == 'Attributes'
            listed = re.findall(r'^ {4}(\w+(?:, \w+)*): ', section[1], re.MULTILINE)
            stale = [name for line in listed for name in line.split(', ') if name not in names and not inherited]
            found += [f'{path}:{node.lineno}: the docstring of {node.name} has {name}, which is not there' for name in stale]
    return found


def _is_text(part: ast.stmt) -> bool:
    return isinstance(part, ast.Expr) and isinstance(part.value, ast.Constant)


def incomplete_docs(source: str, path: str) -> list[str]:
    """Public functions whose docstring lacks a parameter, the value (`Returns:`, `Yields:` or a first line that is a phrase
    for it), or `Raises:` of a `raise`."""
    found = []
    tree = ast.parse(source)
    owners = [(None, tree.body), *((node, node.body) for node in tree.body
                                   if isinstance(node, ast.ClassDef) and not node.name.startswith('_'))]
    for owner, body in owners:
        for node in body:
            if not isinstance(node, ast.FunctionDef) or (node.name.startswith('_') and node.name != '__init__'):
                continue
            if any(ast.unparse(each) == 'overload' for each in node.decorator_list):
                continue
            doc = ast.get_docstring(node) or ''
            if owner is not None and node.name == '__init__':
                doc += ast.get_docstring(owner) or ''
            arguments = [each for each in ast.walk(node.args) if isinstance(each, ast.arg)]
            lacks = [each.arg for each in arguments
                     if each.arg not in ('self', 'cls') and not re.search(rf'\b{each.arg}\b', doc)]
            no_value = node.returns is None or ast.unparse(node.returns) in ('None', 'NoReturn', 'Iterator[None]') or any(
                'property' in ast.unparse(each) for each in node.decorator_list)
            if not no_value and not re.search(r'Returns:|Yields:|\A(Whether|The|An?) ', doc):
                lacks.append('Returns')
            if any(isinstance(each, ast.Raise) and each.exc for each in ast.walk(node)) and 'Raises:' not in doc:
                lacks.append('Raises')
            if lacks:
                found.append(f'{path}:{node.lineno}: the docstring of {node.name} lacks {", ".join(lacks)}')
    return found


def workshop(text: str) -> list[str]:
    return [match[0] for match in WORKSHOP.finditer(text)]


# --- the house ------------------------------------------------------------------------------------------------------

def test_every_room_imports_only_to_its_right() -> None:
    found = [complaint for path in (*sources(), *compiled()) for complaint in wrong_imports(path.read_text(), name_of(path))]
    assert not found, '\n'.join(found)


def test_modules_import_each_other_in_no_circle() -> None:
    """Imports within functions and of types alone count: neither hides a circle."""
    found = circles(module_imports({name_of(path): path.read_text() for path in (*sources(), *compiled())}))
    assert found == CIRCLES


def test_sub_folders_of_a_room_import_downwards() -> None:
    found = upward_imports(module_imports({name_of(path): path.read_text() for path in (*sources(), *compiled())}))
    assert found == UPWARDS


def test_every_sub_folder_has_its_place() -> None:
    packages = [dotted_name(name_of(path)) for path in sources() if path.name == '__init__.py']
    rooms = [room for room in ALLOWED if f'pyfuncdbg.{room}' in packages and not any(
        other.startswith(f'{room}.') for other in ALLOWED)]
    found = {room: {dotted.rpartition('.')[2] for dotted in packages if dotted.rpartition('.')[0] == f'pyfuncdbg.{room}'}
             for room in rooms}
    assert {room: names for room, names in found.items() if names and room != 'demo'} == {
        room: set(names.split()) for room, names in SUBFOLDERS.items()}


def test_functions_are_short_or_say_why() -> None:
    found = [complaint for path in sources() for complaint in long_functions(path.read_text(), name_of(path))]
    assert not found, '\n'.join(found)


def test_files_are_short_or_say_why() -> None:
    texts = {name_of(path): path.read_text().splitlines() for path in (*sources(), *compiled())}
    assert not {name: len(lines) for name, lines in texts.items() if len(lines) > LONGEST_FILE
                and not any(line.startswith('# long: ') for line in lines[:20])}


def test_files_name_a_concept() -> None:
    assert not [name_of(path) for path in PACKAGE.rglob('*') if nameless(path.relative_to(PACKAGE))]


def test_modules_are_named_by_nouns() -> None:
    assert not [name_of(path) for path in (*sources(), *compiled()) if no_noun(path.stem)]


def test_a_public_class_name_means_one_thing() -> None:
    found: dict[str, list[str]] = {}
    for path in sources():
        for name in public_classes(path.read_text()):
            found.setdefault(name, []).append(name_of(path))
    assert not {name: paths for name, paths in found.items() if len(paths) > 1}


def test_modules_and_classes_begin_with_a_short_noun_phrase() -> None:
    found = [complaint for path in sources() for complaint in wordy(path.read_text(), name_of(path))]
    assert not found, '\n'.join(found)


def test_docstrings_of_what_others_build_on_are_complete() -> None:
    paths = [path for name in COMPLETE_DOCS for path in sorted(PACKAGE.glob(name))]
    found = [complaint for path in paths for complaint in incomplete_docs(path.read_text(), name_of(path))]
    assert len(paths) > len(COMPLETE_DOCS) and not found, '\n'.join(found)


def test_docstrings_name_arguments_and_attributes_that_are_there() -> None:
    found = [complaint for path in sources() for complaint in stale_docs(path.read_text(), name_of(path))]
    assert not found, '\n'.join(found)


def test_nothing_swallows_every_exception_without_a_reason() -> None:
    found = [complaint for path in sources() if name_of(path) != 'pyfuncdbg/hooks/chain.py'
             for complaint in broad_excepts(path.read_text(), name_of(path))]
    assert not found, '\n'.join(found)


def test_locks_of_the_program_are_free_in_a_forked_child() -> None:
    rooms = {'tf', *NUMPY.split(), 'hosts', 'hosts.tensorflow', 'hosts.torch', 'hosts.jax', 'hosts.interception', 'hooks',
             *OBSERVERS.split(), 'session'}
    assert not [complaint for path in sources() if (name := name_of(path)) != 'pyfuncdbg/hooks/locks.py'
                if room_of(name.removesuffix('.py').replace('/', '.')) in rooms
                for complaint in fragile_locks(path.read_text(), name)]


def test_the_runtime_the_hooks_and_the_observers_name_no_op() -> None:
    import pyfuncdbg.tf  # noqa: F401  registers every op
    from pyfuncdbg.hosts.numpy.graph.definitions import registry
    ops = {definition.name for definition in registry.registered_ops()}
    assert {'MatMul', 'EagerPyFunc'} <= ops
    rooms = PACKAGE / 'hosts' / 'numpy' / 'runtime', PACKAGE / 'hooks', PACKAGE / 'observers'
    found = [complaint for room in rooms for path in room.rglob('*.py')
             for complaint in op_names(path.read_text(), name_of(path), ops)]
    assert not found, '\n'.join(found)


def test_hooks_and_observers_know_no_framework() -> None:
    found = [complaint for path in (*sources(), *compiled()) if path.relative_to(PACKAGE).parts[0] in ('hooks', 'observers')
             for complaint in framework_names(path.read_text(), name_of(path))]
    assert not found, '\n'.join(found)


def test_hosts_make_calls_through_the_chain_only() -> None:
    found = [complaint for path in (PACKAGE / 'hosts').rglob('*.py')
             for complaint in calls_beside_the_chain(path.read_text(), name_of(path))]
    assert not found, '\n'.join(found)


def test_a_call_beside_the_chain_is_seen() -> None:
    source = 'from pyfuncdbg.hooks.chain import _invoke_watched, invoke\nx = hooks.sole_watcher'
    assert len(calls_beside_the_chain(source, 'a.py')) == 2


def test_views_name_no_framework() -> None:
    """A text gets the name from the trace: hosts to come have none of their own in it. Demos may have one."""
    demo = re.compile('^(def demo|if __name__)', re.MULTILINE)
    assert not [complaint for path in (PACKAGE / 'ui' / 'views').rglob('*.py') if path.stem != 'sample_trace'
                for complaint in framework_names(demo.split(path.read_text())[0], name_of(path))]


def test_no_source_names_a_character() -> None:
    """Python imports `unicodedata` to compile such a literal: a program under `run` may have a module of that name."""
    assert not [name_of(path) for path in sources() if re.search(r'\\N[{]', path.read_text())]


def tracked() -> list[Path]:
    git = shutil.which('git')
    if git is not None and (ROOT / '.git').exists():
        listed = subprocess.run([git, 'ls-files', '-z'], cwd=ROOT, capture_output=True, text=True, check=True).stdout
        return [ROOT / name for name in listed.split('\0') if name and (ROOT / name).is_file()]
    return [path for folder in ('pyfuncdbg', 'tests', '.ci') for path in (ROOT / folder).rglob('*') if path.is_file()]


def test_views_open_no_file() -> None:
    """What a trace names is untrusted: only `record.local_source` decides which file of it may be read."""
    files = [path for path in sorted((PACKAGE / 'ui' / 'views').rglob('*.py')) if path.stem != 'sample_trace']    # our own
    assert [found for path in files for found in openings(path.read_text(), name_of(path))] == []


def test_views_draw_plain_data() -> None:
    """No view can reach a trace, a recorder or a debugger: none is among its arguments, its imports and their fields."""
    paths = [path for path in (PACKAGE / 'ui' / 'views').rglob('*.py') if path.stem not in ('progress', 'sample_trace')]
    assert len(paths) > 50
    assert not [way for path in paths
                for way in ways_to_a_trace(importlib.import_module(dotted_name(name_of(path))), path.read_text())]


def test_no_file_names_the_workshop() -> None:
    found = {}
    for path in tracked():
        try:
            words = workshop(path.read_text(encoding='utf-8'))
        except UnicodeDecodeError:
            continue                                # binary data
        if words:
            found[name_of(path)] = words
    assert not found


def gained(statement: str) -> set[str]:
    """Top-level modules outside the standard library that a fresh interpreter has loaded beyond NumPy."""
    code = ('import numpy, sys\nbefore = set(sys.modules)\n' + statement +
            '\nprint(*{name.partition(".")[0] for name in set(sys.modules) - before} - sys.stdlib_module_names)')
    done = subprocess.run([sys.executable, '-c', code], cwd=ROOT, capture_output=True, text=True, check=True)
    # What is compiled has two modules in memory, of no file.
    return {name for name in done.stdout.split() if name not in ('numpy', 'pyfuncdbg') and not re.match('_?cython_', name)}


def test_importing_the_package_loads_numpy_and_the_standard_library_only() -> None:
    assert gained('import pyfuncdbg') == set()


@pytest.mark.parametrize('module', [
    'pyfuncdbg.tf', 'pyfuncdbg.cli', 'pyfuncdbg.observers.record.recorder', 'pyfuncdbg.observers.record.trace'])
def test_nothing_heavy_is_loaded_before_it_is_needed(module: str) -> None:
    assert not gained(f'import {module}') & HEAVY


@pytest.mark.parametrize(('module', 'unneeded'), [
    ('pyfuncdbg', {'dataclasses', 'inspect', 'threading', 'pyfuncdbg.hooks.call'}),
    ('pyfuncdbg.tf', {'google.protobuf', 'rich', 'textual', 'IPython', 'pyfuncdbg.observers.record.recorder'}),
    ('pyfuncdbg.ui.commands.programs.run_script', {'rich', 'pyfuncdbg.ui.commands.engine.command'}),
    ('pyfuncdbg.ui.prompt.install', {'markdown_it', 'rich.markdown', 'rich.progress', 'pyfuncdbg.observers.record.trace',
                                     'pyfuncdbg.observers.record.index', 'pyfuncdbg.ui.commands.completion'})])
def test_what_starts_a_program_loads_what_it_needs(module: str, unneeded: set[str]) -> None:
    code = f'import sys\nbefore = set(sys.modules)\nimport {module}\nprint(*set(sys.modules) - before)'
    done = subprocess.run([sys.executable, '-c', code], cwd=ROOT, capture_output=True, text=True, check=True)
    loaded = set(done.stdout.split())
    assert module in loaded and not loaded & unneeded


# --- can the rules complain? ----------------------------------------------------------------------------------------

@pytest.mark.parametrize(('path', 'source'), [
    ('pyfuncdbg/hooks/chain.py', 'import pyfuncdbg.observers.record.log'),
    ('pyfuncdbg/hooks/chain.py', 'from pyfuncdbg import record'),
    ('pyfuncdbg/hosts/numpy/graph/tensor.py', 'from pyfuncdbg.hosts.numpy.runtime.sessions.session import Session'),
    ('pyfuncdbg/hosts/numpy/graph/tensor.py', 'from ..runtime import session'),
    ('pyfuncdbg/hosts/numpy/ops/math/trig.py', 'from .....tf import sin'),
    ('pyfuncdbg/hosts/numpy/ops/math.py', 'def f():\n    from pyfuncdbg.tf import v1'),
    ('pyfuncdbg/observers/record/log.py', 'import typing\nif typing.TYPE_CHECKING:\n    '
     'from pyfuncdbg.observers.debug.stops.stop import Stop'),
    ('pyfuncdbg/observers/record/log.py', 'import pyfuncdbg'),
    ('pyfuncdbg/observers/record/log.py', 'from pyfuncdbg import load'),
    ('pyfuncdbg/observers/debug/broker.py', 'from pyfuncdbg.hosts.numpy.runtime import plan'),
    ('pyfuncdbg/hosts/numpy/runtime/plan.py', 'from pyfuncdbg.observers.record import snapshot'),
    ('pyfuncdbg/ui/views/tensor.py', 'from pyfuncdbg.tf import float32'),
    ('pyfuncdbg/ui/commands/calls.py', 'import importlib\nimportlib.import_module("pyfuncdbg.ui.prompt.pdb")'),
    ('pyfuncdbg/ui/prompt/pdb.py', 'from pyfuncdbg.ui.inspector import app'),
    ('pyfuncdbg/hosts/tensorflow.py', 'from pyfuncdbg.hosts.numpy.graph import dtypes'),
    ('pyfuncdbg/demo/train.py', 'from pyfuncdbg.observers.record import recorder'),
    ('pyfuncdbg/errors.py', 'from pyfuncdbg.hooks import call'),
    ('pyfuncdbg/attic/old.py', 'import os'),
    ('pyfuncdbg/hooks/passage.pxd', 'cdef int x\n\nfrom pyfuncdbg.observers.record.recorder cimport R\ncdef int y'),
    ('pyfuncdbg/hooks/passage.pxd', 'cimport pyfuncdbg.observers.record.call_recorder'),
    ('pyfuncdbg/observers/record/call_recorder.pxd', 'def f():\n    cdef int x\n    '
     'from pyfuncdbg.observers.debug.stops.stop import (Stop,\n        Other)'),
    ('pyfuncdbg/hosts/tensorflow/usual.pxd', 'from cpython.object cimport PyObject\nimport os, '
     'pyfuncdbg.observers.record.log'),
])
def test_an_import_to_the_left_is_seen(path: str, source: str) -> None:
    assert len(wrong_imports(source, path)) == 1


@pytest.mark.parametrize(('path', 'source'), [
    ('pyfuncdbg/__init__.py', 'from pyfuncdbg.cli import main'),
    ('pyfuncdbg/hooks/chain.py', 'from pyfuncdbg.errors import RunAborted\nfrom .call import Call'),
    ('pyfuncdbg/tf/__init__.py', 'from pyfuncdbg.hosts.numpy.graph import dtypes\nfrom ..hosts.numpy.ops import math'),
    ('pyfuncdbg/ui/commands/calls.py', 'from pyfuncdbg.ui.views import calls\n'
     'from pyfuncdbg.hosts.numpy.runtime import session'),
    ('pyfuncdbg/cli.py', 'from pyfuncdbg import __version__\nfrom pyfuncdbg.ui.inspector import app\nimport rich'),
    ('pyfuncdbg/demo/train.py', 'from pyfuncdbg import tf'),
    ('pyfuncdbg/observers/record/call_recorder.pxd',
     '"""To\nimport what you like."""\nfrom pyfuncdbg.hooks.passage cimport looked_on\n'
     'cdef extern from "Python.h":\n    int A\nfrom pyfuncdbg.hooks import capture  # why'),
])
def test_an_import_to_the_right_is_fine(path: str, source: str) -> None:
    assert wrong_imports(source, path) == []


def test_a_circle_of_imports_is_seen() -> None:
    texts = {
        'pyfuncdbg/a.py': 'from pyfuncdbg import b',
        'pyfuncdbg/b.py': 'def f():\n    from pyfuncdbg.c import g',
        'pyfuncdbg/c.py': 'if TYPE_CHECKING:\n    from pyfuncdbg.a import A',
        'pyfuncdbg/under.py': 'import os',
        'pyfuncdbg/over.py': 'import pyfuncdbg.a, pyfuncdbg.under, pyfuncdbg.p.q',
        'pyfuncdbg/p/__init__.py': '',
        'pyfuncdbg/p/q.pxd': 'cimport pyfuncdbg.p.r',
        'pyfuncdbg/p/r.py': 'from .q import x',
    }
    imports = module_imports(texts)
    assert imports['pyfuncdbg.b'] == {'pyfuncdbg.c'} and imports['pyfuncdbg.over'] == {
        'pyfuncdbg.a', 'pyfuncdbg.under', 'pyfuncdbg.p.q'}
    assert circles(imports) == {frozenset({'pyfuncdbg.a', 'pyfuncdbg.b', 'pyfuncdbg.c'}),
                                frozenset({'pyfuncdbg.p.q', 'pyfuncdbg.p.r'})}
    assert not circles(module_imports({**texts, 'pyfuncdbg/c.py': '', 'pyfuncdbg/p/r.py': ''}))


def test_an_import_between_sub_folders_is_seen() -> None:
    plan, step, old = (f'pyfuncdbg.hosts.numpy.runtime.{name}' for name in ('plans.plan', 'backward.step', 'attic.old'))
    assert not upward_imports({plan: {step, 'pyfuncdbg.hosts.numpy.runtime.plans.step', 'pyfuncdbg.hooks.call'}})
    assert upward_imports({step: {plan}}) == {(step, plan)}
    assert upward_imports({plan: {old}, old: {plan}}) == {(plan, old), (old, plan)}


@pytest.mark.parametrize('name', ['traced', 'made', 'late', 'midway', 'looping', 'within', 'quickly'])
def test_a_module_without_a_noun_is_seen(name: str) -> None:
    assert no_noun(name)


@pytest.mark.parametrize('name', ['traced_function', 'padding', 'feeds', 'spare_time', 'late_reads'])
def test_a_noun_is_fine(name: str) -> None:
    assert not no_noun(name)


def test_public_classes_are_seen() -> None:
    source = 'class A:\n    class B: ...\nclass _C: ...\ndef f():\n    class D: ...\n@g\nclass E(A): ...'
    assert public_classes(source) == ['A', 'E']


@pytest.mark.parametrize('doc', ['What a call is.', f'A{" word" * LONGEST_SENTENCE}.', 'A call.\n\nNobody looks.'])
def test_words_of_our_own_are_seen(doc: str) -> None:
    assert len(wordy(f'"""{doc}"""', 'a.py')) == len(wordy(f'class A:\n    """{doc}"""', 'a.py')) == 1


def test_a_noun_phrase_is_fine() -> None:
    first = f'A{" word" * (LONGEST_SENTENCE - 1)}'
    assert wordy(f'"""{first}. And a sentence that goes on as long as it likes, whatever it is."""', 'a.py') == []


@pytest.mark.parametrize(('doc', 'lacks'), [
    ('Do.', 'x, Returns, Raises'), ('Do.\n\n    Args:\n        x: A number.\n\n    Raises:\n        E: Never.', 'Returns'),
    ('Do.\n\n    Args:\n        x: A number.\n\n    Returns:\n        Another.', 'Raises')])
def test_an_incomplete_docstring_is_seen(doc: str, lacks: str) -> None:
    source = f'def f(x: int) -> int:\n    """{doc}\n    """\n    raise ValueError(x)'
    assert incomplete_docs(source, 'a.py') == [f'a.py:1: the docstring of f lacks {lacks}']
    assert incomplete_docs(source.replace('def f', 'def _f'), 'a.py') == []
    assert incomplete_docs('def f(x: int) -> int:\n    "The square of `x`."', 'a.py') == []


def test_a_stale_docstring_is_seen() -> None:
    source = '''
class C:
    """A thing.

    Attributes:
        left, right: Of it.
    """
    left = 0

def f(x, *y):
    """A value.

    Args:
        x: A number.
        *y: More.
        z: Gone.
    """
'''
    assert stale_docs(source, 'a.py') == ['a.py:2: the docstring of C has right, which is not there',
                                          'a.py:10: the docstring of f has z, which is not there']


def test_a_long_function_is_seen_unless_it_says_why() -> None:
    body = '    x = 1\n' * 40
    assert long_functions('def f():\n' + body, 'a.py') == ['a.py:1: f has 41 lines']
    assert long_functions('def f():\n' + body[:-10], 'a.py') == []
    assert long_functions('def f():\n    """Text.\n\n    More.\n    """\n' + body[:-10], 'a.py') == []
    assert long_functions('# long: one table, read from top to bottom\ndef f():\n' + body, 'a.py') == []
    assert long_functions('# long\n@g\nasync def f():\n' + body, 'a.py') == ['a.py:3: f has 41 lines']


@pytest.mark.parametrize('source', [
    'try:\n    f()\nexcept Exception:\n    pass',
    'try:\n    f()\nexcept Exception as e:  # noqa: BLE001\n    raise g from e',
    'try:\n    f()\nexcept:\n    pass',
    'try:\n    f()\nexcept BaseException:\n    pass',
    'try:\n    f()\nexcept (ValueError, Exception):\n    pass',
    'with contextlib.suppress(Exception):\n    f()',
])
def test_a_broad_except_is_seen(source: str) -> None:
    assert len(broad_excepts(source, 'a.py')) == 1


@pytest.mark.parametrize('source', [
    'try:\n    f()\nexcept ValueError:\n    pass',
    'try:\n    f()\nexcept BaseException:\n    note()\n    raise',
    'try:\n    f()\nexcept Exception:  # a __repr__ of the user may raise anything\n    pass',
    'try:\n    f()\n# a __repr__ of the user may raise anything\nexcept Exception:\n    pass',
    'with contextlib.suppress(OSError):\n    f()',
])
def test_a_narrow_or_explained_except_is_fine(source: str) -> None:
    assert broad_excepts(source, 'a.py') == []


def test_a_fragile_lock_is_seen() -> None:
    made = 'import threading\na = threading.Lock()\nb = threading.RLock()\nc = threading.Condition()'
    assert [line.split(':')[1] for line in fragile_locks(made, 'a.py')] == ['2', '3', '4']
    assert not fragile_locks('from threading import Event\na = new_lock()\nb = threading.Condition(a)', 'a.py')


def test_an_op_named_in_code_is_seen() -> None:
    assert op_names('"""MatMul in prose."""\nif op.type == "MatMul":\n    pass', 'a.py', {'MatMul'}) == [
        "a.py:2: names the op 'MatMul'"]


@pytest.mark.parametrize('source', [
    'def tensorflow_files(): pass', "if site.op_type == 'EagerPyFunc': pass", "f(x, 'tf.cast')", 'import torch',
    'TF_FILES = 1', "x = f'see {y} py_function'", "cdef str HOST = 'jax'", "if x:\n    y('Keras')"])
def test_a_framework_named_in_code_is_seen(source: str) -> None:
    assert len(framework_names(f'"""Like TensorFlow."""\n{source}\n', 'a.py')) == 1


def test_a_framework_named_in_words_for_the_reader_is_fine() -> None:
    assert framework_names('"""Of tf.py_function."""\nimport pyfuncdbg\nx = 1  # as torch does\n"""Keras has none."""\n'
                           "y = 'PYFUNCDBG_UI', 'platform', 'PyfuncdbgError'\n", 'a.py') == []


@pytest.mark.parametrize('source', ['import linecache', 'open(name)', 'from pathlib import Path', 'os.stat(name)'])
def test_an_opened_file_is_seen(source: str) -> None:
    assert len(openings(source, 'pyfuncdbg/ui/views/x.py')) == 1


def test_a_way_from_a_view_to_a_trace_is_seen() -> None:
    source = '''
from dataclasses import dataclass
from pyfuncdbg.observers.record.records import CallRecord
from pyfuncdbg.observers.record.trace import Trace
from pyfuncdbg.observers.debug.cards.node_card import node_card
@dataclass(frozen=True)
class Held:
    call: CallRecord
    _read: object
    ask: Trace
def view(held: Held, calls: tuple[CallRecord, ...]) -> object:
    return calls[0].inputs[0].to_numpy(), calls[0].number
if __name__ == '__main__':
    held.call.inputs[0].to_numpy()
'''
    module = ModuleType('pyfuncdbg.ui.views.x')
    sys.modules[module.__name__] = module
    try:
        exec(compile(source, 'x.py', 'exec'), vars(module))
        found = list(ways_to_a_trace(module, source))
    finally:
        del sys.modules[module.__name__]
    assert found == [
        'pyfuncdbg.ui.views.x: class Trace', 'pyfuncdbg.ui.views.x: node_card(trace): Trace',
        'pyfuncdbg.ui.views.x: node_card(stop): Stop', 'pyfuncdbg.ui.views.x: class Held.ask: Trace',
        'pyfuncdbg.ui.views.x: view(held): Held.ask: Trace', 'pyfuncdbg.ui.views.x:12: to_numpy reads the trace']


def test_a_nameless_file_and_the_workshop_are_seen() -> None:
    assert nameless(Path('runtime/utils.py'))
    assert nameless(Path('common/plan.py'))
    assert nameless(Path('runtime/helpers.pxd'))
    assert not nameless(Path('runtime/plan.py'))
    assert workshop('see ' + '../' + 'shared/spec and /' + 'work/main') == ['../' + 'shared', '/' + 'work/m']
    assert workshop('how they work/play') == []


def test_a_heavy_import_is_seen() -> None:
    assert 'rich' in gained('import rich.table')

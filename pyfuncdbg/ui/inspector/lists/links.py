"""Links: the command that a click on a word of the screen types. Pure."""
from __future__ import annotations

import re

_NAME = r'[A-Za-z_][\w./>-]*'
_WORDS = re.compile(
    rf'''(?P<line>\bpyfuncdbg\s+show\s+\S+\s+(?P<given>\S.*?)(?:\s{{2,}}|$))
    |\brun\ \#(?P<run>\d+)\b
    |\#(?P<tensor>(?:\d+\.)?\d+:(?:in)?\d+)\b
    |\#(?P<call>(?:\d+\.)?\d+)\b
    |(?<![\w./~-])(?P<place>[\w./~-]*\w\.py:\d+)\b
    |(?<![\w./])(?P<made>{_NAME}):(?P<slot>\d+)(?=\s{{2,}}\#(?P<by>(?:\d+\.)?\d+)\b)
    |(?<![\w./])(?P<fed>{_NAME}:\d+)(?=\s{{2,}}run\ (?P<in>\d+)\b)
    |(?<![\w./])(?P<label>{_NAME}\[\d+\])
    |(?<![\w./])(?P<named>{_NAME}:\d+)\b(?!\.)''', re.VERBOSE)


def links(text: str) -> list[tuple[int, int, str]]:
    """(first column, end, command) of every word in a line that has one."""
    return [(match.start(), match.end(), command) for match in _WORDS.finditer(text) if (command := _command(match))]


def link_at(text: str, index: int) -> str:
    """The command of the word at a place of a line, '' if there is none."""
    return next((command for start, end, command in links(text) if start <= index < end), '')


def first_link(text: str) -> str:
    """The command of the first word of a line that has one, '' if none has."""
    found = links(text)
    return found[0][2] if found else ''


def _command(match: re.Match[str]) -> str:
    if match['given']:
        return match['given']
    if match['run']:
        return f'calls --run {match["run"]} --kind all'
    if match['tensor']:
        return f'pt #{match["tensor"]}'
    if match['call']:
        return f'call {match["call"]}'
    if match['made']:                           # a row of `lt`: as it was in that call, or in that run
        return f'pt #{match["by"]}:{match["slot"]}'
    if match['fed']:
        return f'pt {match["fed"]} --run {match["in"]}'
    if match['label']:
        return f'call {match["label"]}'
    if match['place']:
        return f'ps {match["place"]}'
    return f'pt {match["named"]}'

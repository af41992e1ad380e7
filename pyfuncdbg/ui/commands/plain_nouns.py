"""The command that shows what a plain noun means: the hint where such a word is typed as a command."""
from __future__ import annotations

_COMMANDS = (
    ('runs', 'calls --kind run'),
    ('ops, operations, kernels', 'calls --kind op'),
    ('gradients, grads, backward', 'tape'),
    ('errors, failures, failed, raised, tracebacks', 'calls --failed'),
    ('nan, nans, inf, bad', 'calls --bad'),
    ('printed, prints, warnings, logs, messages', 'calls --printed'),
    ('tensors, values, arrays', 'lt'),
    ('nodes', 'graph'),
    ('feeds', 'pf'),
    ('files, sources', 'ls'),
    ('functions, sites, profile', 'lp'),
    ('summary', 'report'),
)
COMMANDS_BY_NOUN = {noun: command for nouns, command in _COMMANDS for noun in nouns.split(', ')}


def command_for(noun: str) -> str:
    """' ...' with the command that shows what a plain noun means; '' for any other word."""
    command = COMMANDS_BY_NOUN.get(noun.lower())
    return f' {command!r} shows that.' if command is not None else ''

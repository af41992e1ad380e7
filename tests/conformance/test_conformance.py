"""The table of snippets gives with pyfuncdbg what it gave with TensorFlow (facts.jsonl), and TensorFlow still gives that."""
from __future__ import annotations

import importlib
import json
import math
import subprocess
import sys
from pathlib import Path
from typing import Any

import differences
import pytest
from probe import evaluate, functions

HERE = Path(__file__).parent
FACTS = {fact['code']: fact['result'] for fact in map(json.loads, (HERE / 'facts.jsonl').read_text().splitlines())}
BETTER = differences.read().snippets
"""Snippets where pyfuncdbg differs from TensorFlow on purpose, with the reason."""


def same(a: Any, b: Any, tolerance: float = 2e-5) -> bool:
    if isinstance(a, bool) or isinstance(b, bool) or isinstance(a, str) or isinstance(b, str):
        return a == b
    if isinstance(a, (int, float)) and isinstance(b, (int, float)):
        return a == b or math.isclose(a, b, rel_tol=tolerance, abs_tol=tolerance / 10)
    if isinstance(a, list) and isinstance(b, list):
        return len(a) == len(b) and all(same(x, y, tolerance) for x, y in zip(a, b, strict=True))
    if isinstance(a, dict) and isinstance(b, dict):
        loose = 2e-3 if a.get('dtype') in ('float16', 'bfloat16') else tolerance
        return a.keys() == b.keys() and all(same(a[key], b[key], loose) for key in a)
    return a == b


@pytest.fixture(scope='module')
def names() -> dict[str, Any]:
    return functions(importlib.import_module('pyfuncdbg.tf'))


@pytest.mark.parametrize('code', [code for code in FACTS if code not in BETTER])
def test_as_in_tensorflow(code: str, names: dict[str, Any]) -> None:
    found = evaluate(code, names)
    assert same(found, FACTS[code]), f'\nfound     {found}\nexpected  {FACTS[code]}'


@pytest.mark.parametrize('code', BETTER)
def test_differences_still_differ(code: str, names: dict[str, Any]) -> None:
    assert not same(evaluate(code, names), FACTS[code]), 'this is no difference any more: take it out of differences.toml'


@pytest.mark.tensorflow
def test_facts_are_what_tensorflow_does() -> None:
    output = subprocess.run([sys.executable, HERE / 'probe.py', 'tensorflow'], capture_output=True, text=True,
                            check=True).stdout
    now = {fact['code']: fact['result'] for fact in map(json.loads, output.splitlines())}
    assert [code for code, fact in FACTS.items() if not same(now[code], fact)] == []

"""Static code: expressions that cannot depend on a tensor and stay plain Python."""
from __future__ import annotations

import ast

_QUESTIONS = {'isinstance', 'issubclass', 'hasattr', 'callable'}
_VIEWS = {'items', 'keys', 'values'}


def fixed_test(test: ast.expr) -> bool:
    """Whether a condition is a Python bool for any operands."""
    if isinstance(test, ast.Constant):
        return True
    if isinstance(test, ast.Compare):
        return all(isinstance(operator, (ast.Is, ast.IsNot)) for operator in test.ops)
    if isinstance(test, ast.UnaryOp) and isinstance(test.op, ast.Not):
        return fixed_test(test.operand)
    if isinstance(test, ast.BoolOp):
        return all(fixed_test(value) for value in test.values)
    if isinstance(test, ast.Name):
        return test.id == '__debug__'
    return isinstance(test, ast.Call) and isinstance(test.func, ast.Name) and test.func.id in _QUESTIONS


def fixed_values(values: ast.expr) -> bool:
    """Whether the iterable of a loop is no tensor and no dataset, for any operands."""
    if isinstance(values, (ast.List, ast.Tuple, ast.Set, ast.Dict, ast.Constant, ast.ListComp, ast.SetComp, ast.DictComp)):
        return True
    if not isinstance(values, ast.Call):
        return False
    if isinstance(values.func, ast.Attribute):
        return values.func.attr in _VIEWS and not values.args and not values.keywords
    return isinstance(values.func, ast.Name) and values.func.id == 'range' and all(
        isinstance(argument, ast.Constant) for argument in values.args)

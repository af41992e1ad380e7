"""Conversion of expressions that may have tensor operands. These are `and`, `or`, `not`, `a if b else c`, chained
comparisons, calls; and `assert`."""
from __future__ import annotations

import ast
import builtins
from collections.abc import Callable
from typing import Any

from pyfuncdbg.hosts.numpy.runtime.autograph.static_code import fixed_test

_OPERATORS = 'ag__'
LATER = 'ag__later'
"""The parameter of functions made of operands, which marks them."""
_UNCONVERTED = {'print', 'isinstance', 'issubclass', 'hasattr', 'getattr', 'setattr', 'callable', 'type', 'id', 'repr',
                'str',
                'list', 'dict', 'tuple', 'set', 'frozenset', 'super', 'locals', 'globals', 'vars', 'dir', 'eval', 'exec',
                'breakpoint', 'slice', 'property', 'iter', 'hash', 'format', 'input', 'open'} & set(vars(builtins))
"""Builtins that treat tensors as any object, or read the caller's frame."""
_DEBUGGERS = {'pdb.set_trace', 'ipdb.set_trace'}


class Expressions(ast.NodeTransformer):
    """Converter of the expressions of one function.

    Attributes:
        changed: Whether any was converted.
    """

    def __init__(self, first_parameter: str, foreign: Callable[[ast.expr], bool]) -> None:
        """Initialize.

        Args:
            first_parameter: Name of the first parameter, the implicit argument of `super()`.
            foreign: Tests whether an expression is a function that is never converted.
        """
        self.changed = False
        self._first = first_parameter
        self._foreign = foreign

    # ------------------------------------------------------------------ scopes
    def visit_FunctionDef(self, node: ast.FunctionDef) -> Any:
        if node.name.startswith(_OPERATORS):
            node.body = [self.visit(statement) for statement in node.body]
            return node
        before = self._first
        arguments = [*node.args.posonlyargs, *node.args.args]
        self._first = arguments[0].arg if arguments else ''
        node.body = [self.visit(statement) for statement in node.body]
        self._first = before
        node.args.defaults = [self.visit(one) for one in node.args.defaults]
        node.args.kw_defaults = [None if one is None else self.visit(one) for one in node.args.kw_defaults]
        return node

    def visit_AsyncFunctionDef(self, node: ast.AsyncFunctionDef) -> Any:
        return node

    def visit_ClassDef(self, node: ast.ClassDef) -> Any:
        return node

    def visit_AnnAssign(self, node: ast.AnnAssign) -> Any:
        if node.value is not None:
            node.value = self.visit(node.value)
        return node

    def visit_With(self, node: ast.With) -> Any:
        node.body = [self.visit(statement) for statement in node.body]      # context managers are called unchanged
        return node

    # ------------------------------------------------------------------ calls
    def visit_Call(self, node: ast.Call) -> Any:
        function = node.func
        if isinstance(function, ast.Name) and function.id == 'super' and not node.args and self._first:
            node.args = [self._at(ast.Name(name, ast.Load()), node) for name in ('__class__', self._first)]
            return node
        self.generic_visit(node)
        if (isinstance(function,
                       ast.Name) and function.id in _UNCONVERTED) or ast.unparse(function) in _DEBUGGERS or _is_own(
                function) or self._foreign(function):
            return node
        self.changed = True
        node.func = self._operator('callee', [node.func], node)
        return node

    # ------------------------------------------------------------------ conditions
    def visit_BoolOp(self, node: ast.BoolOp) -> Any:
        fixed = fixed_test(node) or _binds(node.values[1:])
        self.generic_visit(node)
        if fixed:
            return node
        name = 'and_' if isinstance(node.op, ast.And) else 'or_'
        result = node.values[-1]
        for value in reversed(node.values[:-1]):
            result = self._operator(name, [value, self._later(result)], node)
        self.changed = True
        return result

    def visit_UnaryOp(self, node: ast.UnaryOp) -> Any:
        fixed = fixed_test(node)
        self.generic_visit(node)
        if fixed or not isinstance(node.op, ast.Not):
            return node
        self.changed = True
        return self._operator('not_', [node.operand], node)

    def visit_IfExp(self, node: ast.IfExp) -> Any:
        text = ast.unparse(node.test)
        fixed = fixed_test(node.test) or _binds([node.body, node.orelse])
        self.generic_visit(node)
        if fixed:
            return node
        self.changed = True
        return self._operator('if_exp', [node.test, self._later(node.body), self._later(node.orelse), ast.Constant(text)],
                              node)

    def visit_Compare(self, node: ast.Compare) -> Any:
        fixed = fixed_test(node) or len(node.ops) == 1 or _binds(node.comparators[1:])
        self.generic_visit(node)
        if fixed:
            return node
        self.changed = True
        # Each comparison as a function of its operands; only the first two are evaluated in any case.
        tests: list[ast.expr] = []
        for operator in node.ops:
            compared = ast.Compare(ast.Name('a', ast.Load()), [operator], [ast.Name('b', ast.Load())])
            tests.append(ast.Lambda(_arguments('a', 'b'), compared))
        first, *rest = node.comparators
        return self._operator('compared', [ast.Tuple(tests, ast.Load()), node.left, first,
                                           *(self._later(one) for one in rest)], node)

    def visit_Assert(self, node: ast.Assert) -> Any:
        self.generic_visit(node)
        if fixed_test(node.test) or _binds([node.test]):
            return node
        self.changed = True
        message = node.msg if node.msg is not None else ast.Constant('Assertion error')
        return self._at(ast.Expr(self._operator('assert_stmt', [node.test, self._later(message)], node)), node)

    # ------------------------------------------------------------------ making
    def _operator(self, name: str, arguments: list[ast.expr], place: Any) -> ast.expr:
        call = ast.Call(ast.Attribute(ast.Name(_OPERATORS, ast.Load()), name, ast.Load()), arguments, [])
        return self._at(call, place)  # type: ignore[no-any-return]

    def _later(self, value: ast.expr) -> ast.expr:
        return self._at(ast.Lambda(_arguments(LATER, optional=True), value), value)  # type: ignore[no-any-return]

    @staticmethod
    def _at(nodes: Any, place: Any) -> Any:
        """Give new nodes the location of the user's; nodes of the user inside keep theirs."""
        todo = [nodes]
        while todo:
            node = todo.pop()
            if 'lineno' in node._attributes:
                if hasattr(node, 'lineno'):
                    continue
                ast.copy_location(node, place)
            todo += ast.iter_child_nodes(node)
        return nodes


def _arguments(*names: str, optional: bool = False) -> ast.arguments:
    return ast.arguments([], [ast.arg(name) for name in names], None, [], [], None, [ast.Constant(None)] if optional else [])


def _is_own(function: ast.expr) -> bool:
    return isinstance(function, ast.Attribute) and isinstance(function.value, ast.Name) and function.value.id == _OPERATORS


def _binds(values: list[Any]) -> bool:
    """Whether names are bound inside, which would become local to a new function."""
    return any(isinstance(node, (ast.NamedExpr, ast.Await, ast.Yield, ast.YieldFrom)) for value in values
               for node in ast.walk(value))

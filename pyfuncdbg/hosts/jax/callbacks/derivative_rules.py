"""Derivative rules: functions under `custom_vjp` and `custom_jvp`, and the rules that the program gave for them, as calls.

JAX calls them on the program's thread: with values in eager code, with tracers while it traces a program. A call with
tracers is made once a trace, and its values are not known.
"""
from __future__ import annotations

import functools
import sys
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import Any, NamedTuple

from pyfuncdbg.hooks.call import in_reexecution
from pyfuncdbg.hooks.call_frames import code_of, mark_function_caller
from pyfuncdbg.hooks.chain import hooks, invoke, report_failure
from pyfuncdbg.hooks.differentiable import RuleSite
from pyfuncdbg.hooks.own_files import is_machinery
from pyfuncdbg.hooks.transparent_frames import transparent
from pyfuncdbg.hooks.weak_keys import WeakKeys
from pyfuncdbg.hosts.interception.eager_runs import EagerRuns
from pyfuncdbg.hosts.interception.patching import Patches
from pyfuncdbg.hosts.interception.result_list import ResultList
from pyfuncdbg.hosts.interception.traceback_frames import without_own_frames
from pyfuncdbg.hosts.jax.callbacks.custom_steps import FlatRule, StepLink, wait_for
from pyfuncdbg.hosts.jax.callbacks.sites import CallbackSites, name_of
from pyfuncdbg.hosts.jax.callbacks.traced_rules import TracedRule
from pyfuncdbg.hosts.jax.host import JaxHost
from pyfuncdbg.hosts.jax.jax_parts import JaxParts

_OP_TYPES: Mapping[str, Mapping[str, str]] = {
    'custom_vjp': {'fun': 'custom_vjp', 'fwd': 'custom_vjp_fwd', 'bwd': 'custom_vjp_bwd'},
    'custom_jvp': {'fun': 'custom_jvp', 'jvp': 'custom_jvp_rule'}}
"""Op types of the functions that an object of each class has, by attribute."""


@transparent
class DerivativeRules:
    """The calls of derivative rules.

    Attributes:
        on: Whether JAX is attached; otherwise calls are passed on unwatched.
    """

    def __init__(self, parts: JaxParts, host: JaxHost, sites: CallbackSites, eager_runs: EagerRuns) -> None:
        self.on = True
        self._parts = parts
        self._host = host
        self._tools = parts.tree
        self._sites = sites
        self._eager_runs = eager_runs
        self._forms: WeakKeys[Any, tuple[list[Any], Any]] = WeakKeys()

    def install(self, patches: Patches) -> None:
        """Replace the calls of JAX's objects around a function with rules."""
        for name, op_types in _OP_TYPES.items():
            kind = getattr(self._parts.derivatives, name)
            patches.wrap(kind, '__call__', partial(self._replace_call, kind, op_types))

    def _replace_call(self, kind: type, op_types: Mapping[str, str], original: Callable[..., Any]) -> Callable[..., Any]:
        def __call__(self_: Any, *args: Any, **settings: Any) -> Any:  # noqa: N807
            try:
                is_watched = self.on and hooks.python and type(self_) is kind
                return original(self._watched_form(self_, op_types) if is_watched else self_, *args, **settings)
            except BaseException as error:
                error.__traceback__ = without_own_frames(error.__traceback__)
                raise
        return __call__

    def _watched_form(self, custom: Any, op_types: Mapping[str, str]) -> Any:
        """An object like JAX's with watched functions: the same each time, so that JAX's caches work."""
        functions = [getattr(custom, name, None) for name in op_types]
        entry = self._forms.get(custom)
        if entry is not None and all(one is other for one, other in zip(entry[0], functions, strict=True)):
            return entry[1]
        form, link = object.__new__(type(custom)), StepLink(self._tools, self._parts, getattr(custom, 'nondiff_argnums', ()))
        vars(form).update(vars(custom))
        kind = type(custom).__name__
        traced = TracedRule(self._parts, self._host, custom, f'{kind}/{name_of(custom.fun)}')
        for (name, op_type), function in zip(op_types.items(), functions, strict=True):
            if function is not None:
                rule = _Rule(name, op_type, f'{kind}/{_rule_name(name, function, custom.fun)}', link, traced)
                vars(form)[name] = self._watched(function, rule)
        self._forms[custom] = functions, form
        return form

    def _watched(self, function: Callable[..., Any], which: _Rule) -> Callable[..., Any]:
        """A function that makes calls of the program's one; JAX's own stay as they are."""
        code = code_of(function)
        if code is None or is_machinery(code.co_filename):
            return function

        @mark_function_caller
        @functools.wraps(function)
        def rule(*args: Any, **settings: Any) -> Any:
            try:
                if not self.on or not hooks.python or in_reexecution():
                    return function(*args, **settings)
                self._note(which, args)
                leaves, tree = self._tools.tree_flatten((args, settings))
                if not hooks.passive:
                    wait_for(leaves)
                flat = FlatRule(self._tools, function, tree)
                site = flat.site = self._sites.of_rule(
                    which.op_type, function, flat, sys._getframe(1), which.label,
                    RuleSite(which.traced, which.attribute in ('fun', 'fwd')))
                run = self._eager_runs.of_thread()
                outputs = invoke(site, flat, run, leaves)
                result = outputs.raw if type(outputs) is ResultList else flat.result_of(outputs)
                if hooks.gradient:
                    which.link.note(flat, run, args, result)
                return result
            except BaseException as error:
                error.__traceback__ = without_own_frames(error.__traceback__)
                raise
        return rule

    @staticmethod
    def _note(which: _Rule, args: Sequence[Any]) -> None:
        try:
            which.traced.note(which.attribute, args)
        except Exception as error:              # a mistake of ours: the program's call goes on
            report_failure(f'the arguments of {which.label} are not known', error)


class _Rule(NamedTuple):
    """A function under `custom_vjp` or `custom_jvp`, or one of its rules.

    Attributes:
        attribute: Where JAX's object has it.
        op_type, label: Op type and name of its sites.
        link: To its backward steps.
        traced: Its calls with tracers.
    """

    attribute: str
    op_type: str
    label: str
    link: StepLink
    traced: TracedRule


def _rule_name(attribute: str, rule: Any, function: Any) -> str:
    """The name of a rule; a lambda has that of the function that it is for."""
    name = name_of(rule)
    return f'{name_of(function)}_{attribute}' if name == 'lambda' and attribute != 'fun' else name

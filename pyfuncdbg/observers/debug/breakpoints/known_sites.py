"""The sites that the debugger has met: what a SPEC can name, and the parameters that a condition can.

Filled on the threads of the calls, at the first call of each site; asked where breakpoints are set. Keeps names only.
"""
from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from pyfuncdbg.errors import nearest
from pyfuncdbg.hooks.call import CallSite, Kind, Run
from pyfuncdbg.observers.debug.breakpoints.spec import Spec, names_of
from pyfuncdbg.observers.debug.conditions import function_parameters as parameters
from pyfuncdbg.observers.debug.conditions.enclosing_names import EnclosingNames, enclosing_names
from pyfuncdbg.observers.debug.conditions.function_names import function_names
from pyfuncdbg.observers.record.records import SiteRecord

_MOST = 1 << 16
_SCOPED = 3
"""Nodes of a name in scopes, such as of a loop, that are proposed."""
_NEARLY = 0.15
"""By how much less a name may resemble what was typed than the nearest one does."""


@dataclass(frozen=True, slots=True)
class KnownSite:
    """A site by its names.

    Attributes:
        name: Of the node.
        kind: Of its calls.
        names: All under which a SPEC finds it: node, op type, function.
        function: Names of its function, none if it has none.
        parameters: Of its function, None if unknown.
        enclosing: What else its function sees.
        announced: Whether a run has announced it: those of a loop, a branch or a function that a node calls are not.
    """

    name: str
    kind: Kind
    names: tuple[str, ...]
    function: tuple[str, ...]
    parameters: tuple[str, ...] | None
    enclosing: EnclosingNames
    announced: bool


class SiteCatalogue:
    """Bounded catalogue of the sites met so far."""

    def __init__(self) -> None:
        self._sites: dict[int, KnownSite] = {}
        self._by_name: dict[str, list[KnownSite]] = {}
        self._runs: set[int] = set()

    def __len__(self) -> int:
        return len(self._sites)

    def add(self, site: CallSite, *, announced: bool = False) -> None:
        """Add a site that is called or announced."""
        if site.id not in self._sites and len(self._sites) < _MOST:
            names = tuple(dict.fromkeys(names_of(site)))
            entry = KnownSite(site.name, site.kind, names, function_names(site.function),
                              parameters.parameter_names(site.function), enclosing_names(site.function), announced)
            self._sites[site.id] = entry
            for name in names:
                self._by_name.setdefault(name, []).append(entry)

    def add_run(self, run: Run) -> None:
        """Add the sites that a run announces when it begins; each tuple of sites is read once."""
        sites = run.sites
        key = id(sites)
        if sites and key not in self._runs:
            if len(self._runs) >= _MOST:
                self._runs.clear()
            self._runs.add(key)                 # a reused id costs some names, but no stop
            for site in sites:
                self.add(site, announced=True)

    def may_be_inner(self, spec: Spec) -> bool:
        """Whether a SPEC may mean a node that no run announces, as far as is known."""
        return spec.kind == 'name' and not spec.function and not any(
            site.announced or site.kind != 'op' for site in self.matching_sites(spec))

    def matching_sites(self, spec: Spec) -> list[KnownSite]:
        """The sites that a SPEC means, as far as they are known."""
        if spec.kind != 'name':
            return []
        if not spec.glob:
            return [site for site in self._by_name.get(spec.name, ()) if not spec.function or spec.name in site.function]
        return [site for site in list(self._sites.values()) if spec.fits(site.function if spec.function else site.names)]

    def means_node(self, spec: Spec, name: str) -> bool:
        """Whether a SPEC means the nodes of this name, as far as they are known: by the name, or by their functions'."""
        if spec.kind != 'name':
            return False
        sites = [site for site in list(self._by_name.get(name, ())) if site.name == name and site.kind == 'python']
        if spec.function:
            return any(spec.fits(site.function) for site in sites)
        return spec.fits((name, *[other for site in sites for other in site.names]))

    def near(self, spec: Spec, functions: Iterable[str] = (), others: Iterable[SiteRecord] = ()) -> str:
        """' Did you mean ...?' with names of one kind: of nodes, op types or functions, whichever has the nearest.

        Args:
            spec: What names nothing.
            functions: Further names of functions.
            others: Sites that are known from elsewhere.
        """
        import difflib  # only needed for an error message
        sites = [*self._sites.values()]
        nodes = {*(site.name for site in sites), *(site.name for site in others)}
        if not spec.function and (scoped := sorted(name for name in nodes if name.endswith(f'/{spec.name}'))[:_SCOPED]):
            return f' Did you mean {" or ".join(map(repr, scoped))}?'
        kinds = [{*functions, *(name for site in sites for name in site.function), *(site.function for site in others)}]
        if not spec.function:
            kinds += [nodes,
                      {*(name for site in sites for name in site.names if name != site.name and name not in site.function),
                       *(site.op_type for site in others)}]
        hints = [(difflib.SequenceMatcher(None, close[0], spec.name).ratio(), -number, close)
                 for number, names in enumerate(kinds)
                 if (close := difflib.get_close_matches(spec.name, sorted(filter(None, names)), 3))]
        if not hints:
            return ''
        best, _, close = max(hints)
        return nearest(spec.name, [name for name in close
                                   if difflib.SequenceMatcher(None, name, spec.name).ratio() >= best - _NEARLY])

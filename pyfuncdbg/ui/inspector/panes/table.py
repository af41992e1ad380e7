"""The panes of the inspector, in order."""
from __future__ import annotations

from pyfuncdbg.ui.inspector.panes.call_panes import output, tensors
from pyfuncdbg.ui.inspector.panes.calls import CallList
from pyfuncdbg.ui.inspector.panes.graph import graph
from pyfuncdbg.ui.inspector.panes.scene import Pane
from pyfuncdbg.ui.inspector.panes.source import source
from pyfuncdbg.ui.inspector.panes.tape import tape
from pyfuncdbg.ui.inspector.panes.timeline import TimelinePane

PANES = (Pane('graph', '1', 'the nodes of the run', graph),
         Pane('source', '2', 'the source of the call, with values', source),
         Pane('tensors', '3', 'inputs and outputs of the call', tensors),
         Pane('output', '4', 'output of the call', output),
         Pane('tape', '5', 'the gradients of the run', tape),
         Pane('calls', '6', 'every recorded call', make=CallList),
         Pane('timeline', '7', 'calls by thread over time', make=TimelinePane))

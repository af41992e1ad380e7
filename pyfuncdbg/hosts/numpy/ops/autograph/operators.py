"""`ag__`: what converted code calls."""
from pyfuncdbg.hosts.numpy.ops.autograph.calls import callee
from pyfuncdbg.hosts.numpy.ops.autograph.conditional import and_, assert_stmt, compared, if_exp, if_stmt, not_, or_
from pyfuncdbg.hosts.numpy.ops.autograph.loops import for_stmt, while_stmt
from pyfuncdbg.hosts.numpy.ops.autograph.state import UndefinedReturnValue, returned

__all__ = ['UndefinedReturnValue', 'and_', 'assert_stmt', 'callee', 'compared', 'for_stmt', 'if_exp', 'if_stmt', 'not_',
           'or_', 'returned', 'while_stmt']


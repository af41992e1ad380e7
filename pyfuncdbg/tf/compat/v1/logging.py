"""`tf.compat.v1.logging`: Python's logger 'tensorflow'."""
from logging import DEBUG as DEBUG, ERROR as ERROR, FATAL as FATAL, INFO as INFO, WARN as WARN

from pyfuncdbg.hosts.numpy.ops.checks.logger import (
    debug as debug,
    error as error,
    fatal as fatal,
    get_verbosity as get_verbosity,
    info as info,
    log as log,
    log_every_n as log_every_n,
    log_first_n as log_first_n,
    set_verbosity as set_verbosity,
    vlog as vlog,
    warn as warn,
    warning as warning,
)
from pyfuncdbg.tf.public import publish as _publish

_publish(globals())

"""`tf.errors`: the exceptions and the codes they carry."""
from pyfuncdbg.errors import (
    AbortedError,
    AlreadyExistsError,
    CancelledError,
    DataLossError,
    DeadlineExceededError,
    FailedPreconditionError,
    InternalError,
    InvalidArgumentError,
    NotFoundError,
    OperatorNotAllowedInGraphError,
    OpError,
    OutOfRangeError,
    PermissionDeniedError,
    ResourceExhaustedError,
    UnauthenticatedError,
    UnavailableError,
    UnimplementedError,
    UnknownError,
)
from pyfuncdbg.tf.public import publish as _publish

OK, CANCELLED, UNKNOWN, INVALID_ARGUMENT, DEADLINE_EXCEEDED, NOT_FOUND, ALREADY_EXISTS, PERMISSION_DENIED = range(8)
RESOURCE_EXHAUSTED, FAILED_PRECONDITION, ABORTED, OUT_OF_RANGE, UNIMPLEMENTED, INTERNAL = range(8, 14)
UNAVAILABLE, DATA_LOSS, UNAUTHENTICATED = range(14, 17)

__all__ = [
    'ABORTED',
    'ALREADY_EXISTS',
    'CANCELLED',
    'DATA_LOSS',
    'DEADLINE_EXCEEDED',
    'FAILED_PRECONDITION',
    'INTERNAL',
    'INVALID_ARGUMENT',
    'NOT_FOUND',
    'OK',
    'OUT_OF_RANGE',
    'PERMISSION_DENIED',
    'RESOURCE_EXHAUSTED',
    'UNAUTHENTICATED',
    'UNAVAILABLE',
    'UNIMPLEMENTED',
    'UNKNOWN',
    'AbortedError',
    'AlreadyExistsError',
    'CancelledError',
    'DataLossError',
    'DeadlineExceededError',
    'FailedPreconditionError',
    'InternalError',
    'InvalidArgumentError',
    'NotFoundError',
    'OpError',
    'OperatorNotAllowedInGraphError',
    'OutOfRangeError',
    'PermissionDeniedError',
    'ResourceExhaustedError',
    'UnauthenticatedError',
    'UnavailableError',
    'UnimplementedError',
    'UnknownError',
]

_publish(globals())

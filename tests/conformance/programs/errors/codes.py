import tensorflow as tf, numpy as np

v1 = tf.compat.v1


def attempt(label, function):
    try:
        print(label, '->', function())
    except Exception as error:
        print(label, '!!', type(error).__name__, '|', str(error).split('\n')[0])


for code in range(1, 17):
    print(code, v1.errors.exception_type_from_error_code(code).__name__)
for name in ('NotFoundError', 'UnknownError', 'CancelledError'):
    print(v1.errors.error_code_from_exception_type(getattr(tf.errors, name)))
attempt('bad code', lambda: v1.errors.exception_type_from_error_code(99))
attempt('bad type', lambda: v1.errors.error_code_from_exception_type(ValueError))
print(hasattr(v1.errors, 'raise_exception_on_not_ok_status'), hasattr(tf.errors, 'raise_exception_on_not_ok_status'))

"""The functions of libpolystore, and the conversion of its errors to exceptions."""
import ctypes
import json
import os
import sys
from ctypes import CFUNCTYPE, POINTER, byref, c_bool, c_char_p, c_int, c_int64, c_size_t, c_void_p

TransactionBody = CFUNCTYPE(c_int, c_void_p, c_void_p)
MonitorBody = CFUNCTYPE(None, c_char_p, c_void_p)
Progress = CFUNCTYPE(c_int, c_char_p, c_void_p)
Key = c_int64

_error = POINTER(c_void_p)

# The result and the arguments of each function that this package uses. A text that the caller frees is an address and not a `c_char_p`, which
# would be copied and lost.
_SIGNATURES = {
    "polystore_version": (c_char_p, []),
    "polystore_free": (None, [c_void_p]),
    "polystore_live_handles": (c_size_t, []),
    "polystore_error_code": (c_char_p, [c_void_p]),
    "polystore_error_message": (c_char_p, [c_void_p]),
    "polystore_error_details": (c_char_p, [c_void_p]),
    "polystore_error_is_retryable": (c_bool, [c_void_p]),
    "polystore_error_release": (None, [c_void_p]),
    "polystore_stack_create": (c_void_p, [c_char_p, _error]),
    "polystore_stack_open": (c_void_p, [c_char_p, _error]),
    "polystore_stack_add_store": (c_int, [c_void_p, c_char_p, c_char_p, _error]),
    "polystore_stack_close": (c_int, [c_void_p, _error]),
    "polystore_stack_model": (c_void_p, [c_void_p, _error]),
    "polystore_stack_query": (c_void_p, [c_void_p, c_char_p, _error]),
    "polystore_stack_perform": (c_int, [c_void_p, c_char_p, TransactionBody, c_void_p, _error]),
    "polystore_stack_read": (c_int, [c_void_p, TransactionBody, c_void_p, _error]),
    "polystore_stack_observe": (c_void_p, [c_void_p, c_char_p, MonitorBody, c_void_p, _error]),
    "polystore_stack_release": (None, [c_void_p]),
    "polystore_transaction_create": (c_int, [c_void_p, c_char_p, c_char_p, POINTER(Key), _error]),
    "polystore_transaction_update": (c_int, [c_void_p, c_char_p, c_int64, c_char_p, _error]),
    "polystore_transaction_delete": (c_int, [c_void_p, c_char_p, c_int64, _error]),
    "polystore_transaction_query": (c_void_p, [c_void_p, c_char_p, _error]),
    "polystore_monitor_objects": (c_void_p, [c_void_p, _error]),
    "polystore_monitor_release": (None, [c_void_p]),
    "polystore_transfer": (c_void_p, [c_char_p, c_char_p, c_char_p, Progress, c_void_p, _error]),
}


def _load():
    name = "libpolystore.dylib" if sys.platform == "darwin" else "libpolystore.so"
    library = ctypes.CDLL(os.environ.get("POLYSTORE_LIBRARY", name))
    for function, (result, arguments) in _SIGNATURES.items():
        getattr(library, function).restype = result
        getattr(library, function).argtypes = arguments
    return library


functions = _load()


class Error(Exception):
    """A failure of the library.

    Attributes: `code`, such as "uniqueConstraintViolated"; `message`; `details`, a dictionary; `is_retryable`.
    """

    def __init__(self, code, message, details, is_retryable):
        super().__init__(f"{code}: {message}")
        self.code, self.message, self.details, self.is_retryable = code, message, details, is_retryable


def take_error(handle):
    """Returns the exception of an error of the library, which is released."""
    try:
        return Error(
            functions.polystore_error_code(handle).decode(), functions.polystore_error_message(handle).decode(),
            json.loads(functions.polystore_error_details(handle)), functions.polystore_error_is_retryable(handle))
    finally:
        functions.polystore_error_release(handle)


def check(function, *arguments, failure=None):
    """Calls a function, and returns its result. `failure` is the result after which an error is raised."""
    error = c_void_p()
    result = function(*arguments, byref(error))
    if result == failure:
        raise take_error(error)
    return result


def check_text(function, *arguments):
    """Calls a function that returns a text, which is copied and freed."""
    text = check(function, *arguments)
    try:
        return ctypes.string_at(text).decode()
    finally:
        functions.polystore_free(text)

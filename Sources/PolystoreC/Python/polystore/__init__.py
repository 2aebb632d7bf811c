"""Polystore for Python: one object graph over memory, SQLite, PostgreSQL and LMDB.

    with polystore.Stack.from_file("pets.json") as stack:
        stack.add_store("sqlite:pets.db")
        ann = stack.perform(lambda t: t.create("Person", name="Ann", age=30))
        stack.query("Person", where="age >= $min", arguments={"min": 18}, orderBy=["-age"])

Objects are dictionaries with the members "entity", "key" and "version" beside their values. The package loads libpolystore, or the file that the
environment variable POLYSTORE_LIBRARY names.
"""
import atexit
import base64
import datetime
import decimal
import json
import uuid
import weakref

from . import _library
from ._library import Error, check, check_text

__all__ = ["Error", "Stack", "Transaction", "Monitor", "transfer", "version", "live_handles"]


def version():
    """Returns the version of the library."""
    return _library.functions.polystore_version().decode()


def live_handles():
    """Returns the number of handles that are not released, for tests."""
    return _library.functions.polystore_live_handles()


def _plain(value):
    """Returns the JSON form of a value of a type that JSON lacks."""
    if isinstance(value, datetime.datetime):
        moment = value.astimezone(datetime.timezone.utc)
        return moment.replace(tzinfo=None).isoformat() + "Z"
    if isinstance(value, uuid.UUID):
        return str(value).upper()
    if isinstance(value, decimal.Decimal):
        return str(value)
    if isinstance(value, (bytes, bytearray)):
        return base64.b64encode(value).decode()
    raise TypeError(f"{type(value).__name__} is no type of a value")


def _argument(value):
    """Returns the JSON form of an argument of a condition, with its type where JSON lacks it."""
    types = {datetime.datetime: "date", uuid.UUID: "uuid", decimal.Decimal: "decimal", bytes: "data"}
    if isinstance(value, (list, tuple, set)):
        return [_argument(item) for item in value]
    return {types[type(value)]: _plain(value)} if type(value) in types else value


def _json(value):
    return json.dumps(value, default=_plain, ensure_ascii=False).encode()


def _request(entity, parts):
    if "arguments" in parts:
        parts = {**parts, "arguments": {name: _argument(value) for name, value in parts["arguments"].items()}}
    return _json({"entity": entity, **parts})


# The handles that are open. At the end of the program they are released while call-backs can still run.
_open = weakref.WeakSet()


@atexit.register
def _close_all():
    for handle in sorted(_open, key=lambda handle: isinstance(handle, Stack)):
        handle.close()


class _Handle:
    """A handle of the library, which is released once: by `close`, at the end of a `with` block, or with the last reference."""

    _release = None

    def __init__(self, handle):
        self._handle = handle
        _open.add(self)

    def close(self):
        """Releases the handle. Later uses of the object raise an error with the code "storeClosed"."""
        handle, self._handle = self._handle, None
        if handle:
            self._release(handle)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.close()

    def __del__(self):
        self.close()


class Stack(_Handle):
    """An object graph over one or more stores. The stores are closed at the end of a `with` block."""

    _release = staticmethod(_library.functions.polystore_stack_release)

    def __init__(self, model):
        """Creates a stack without stores from a model: its JSON text, or a dictionary."""
        self._handle = None
        text = model.encode() if isinstance(model, str) else _json(model)
        super().__init__(check(_library.functions.polystore_stack_create, text))

    @classmethod
    def from_file(cls, path):
        """Creates a stack without stores from a model file."""
        with open(path, encoding="utf-8") as file:
            return cls(file.read())

    @classmethod
    def open(cls, url):
        """Opens an existing store, with the model that it has."""
        stack = cls.__new__(cls)
        stack._handle = None
        _Handle.__init__(stack, check(_library.functions.polystore_stack_open, url.encode()))
        return stack

    def close(self):
        """Closes the stores and releases the stack. Monitors that are still open receive nothing more."""
        if self._handle:
            _library.functions.polystore_stack_close(self._handle, None)
        super().close()

    def add_store(self, url, configuration=None):
        """Opens a store, or creates it, and adds it. Migrates it if it has another version of the model."""
        check(
            _library.functions.polystore_stack_add_store, self._handle, url.encode(), configuration.encode() if configuration else None,
            failure=1)
        return self

    @property
    def model(self):
        """The model, as a dictionary."""
        return json.loads(check_text(_library.functions.polystore_stack_model, self._handle))

    def query(self, entity, **parts):
        """Returns the answer to a request, whose parts have the names of the JSON form: where, arguments, orderBy, limit, select, prefetch, …"""
        return json.loads(check_text(_library.functions.polystore_stack_query, self._handle, _request(entity, parts)))

    def perform(self, body, author=None, timeout=None):
        """Calls `body` with a transaction, commits, and returns its result. An exception undoes everything and is raised again.

        After a conflict with another transaction `body` is called again.
        """
        options = {name: value for name, value in [("author", author), ("timeout", timeout)] if value is not None}
        return self._run(_library.functions.polystore_stack_perform, body, _json(options))

    def read(self, body):
        """Calls `body` with a read of one committed snapshot of each store, and returns its result."""
        return self._run(_library.functions.polystore_stack_read, body)

    def _run(self, function, body, *options):
        outcome = {}

        def call(handle, _):
            outcome.clear()
            try:
                outcome["result"] = body(Transaction(handle))
                return 0
            except BaseException as error:  # raised again outside of the call of the library
                outcome["raised"] = error
                return 1

        try:
            check(function, self._handle, *options, _library.TransactionBody(call), None, failure=1)
        except Error as error:
            # The error of the library is that of a function of the transaction, or of a conflict; "cancelled" only says that `body` failed.
            if "raised" in outcome and (error.code == "cancelled" or not isinstance(outcome["raised"], Error)):
                raise outcome["raised"] from None
            raise
        return outcome["result"]

    def observe(self, entity, changed, **parts):
        """Calls `changed` with the current list of a request, and after each commit that changes it, until the monitor is closed.

        The calls come on another thread, one after the other. A change is a dictionary with "reloaded", "inserted", "deleted", "updated",
        "moved" and "objects".
        """
        return Monitor(self, _request(entity, parts), changed)


class Transaction:
    """The transaction of a call of `Stack.perform` or `Stack.read`. It ends with the call, and belongs to its thread."""

    def __init__(self, handle):
        self._handle = handle

    def create(self, entity, **values):
        """Creates an object, and returns its key. Relationships have the keys of objects as values."""
        key = _library.Key()
        check(
            _library.functions.polystore_transaction_create, self._handle, entity.encode(), _json(values), _library.byref(key), failure=1)
        return key.value

    def update(self, entity, key, **values):
        """Changes properties of an object. With `version`, an object that has another one is an error with the code "staleObject"."""
        check(_library.functions.polystore_transaction_update, self._handle, entity.encode(), key, _json(values), failure=1)

    def delete(self, entity, key):
        """Deletes an object, if it exists, and applies the delete rules."""
        check(_library.functions.polystore_transaction_delete, self._handle, entity.encode(), key, failure=1)

    def query(self, entity, **parts):
        """Returns the answer to a request as `Stack.query` does. Objects include the changes of the transaction."""
        return json.loads(check_text(_library.functions.polystore_transaction_query, self._handle, _request(entity, parts)))


# The functions of all monitors: a small object for each is kept to the end of the program.
_bodies = []


class Monitor(_Handle):
    """The observation of a request, which keeps its stack. After `close`, or the end of a `with` block, no further call begins."""

    _release = staticmethod(_library.functions.polystore_monitor_release)

    def __init__(self, stack, request, changed):
        self._handle = None
        self._stack = stack
        # The function has to live until its last call has returned, which may be the one that closes the monitor.
        self._body = _library.MonitorBody(lambda change, _: changed(json.loads(change)))
        _bodies.append(self._body)
        super().__init__(check(_library.functions.polystore_stack_observe, stack._handle, request, self._body, None))

    @property
    def objects(self):
        """The current list of objects."""
        return json.loads(check_text(_library.functions.polystore_monitor_objects, self._handle))


def transfer(source, target, progress=None, **options):
    """Copies all objects of a store to another one, and returns the report.

    `progress` is called with a dictionary from time to time; if it returns False, the transfer is cancelled. Options have the names of the
    JSON form, such as ifExists="merge".
    """
    raised = []

    def call(text, _):
        try:
            return 1 if progress(json.loads(text)) is False else 0
        except BaseException as error:  # raised again outside of the call of the library
            raised.append(error)
            return 1

    body = _library.Progress(call) if progress else _library.Progress()
    try:
        text = check_text(_library.functions.polystore_transfer, source.encode(), target.encode(), _json(options), body, None)
    except Error:
        if raised:
            raise raised[0] from None
        raise
    return json.loads(text)

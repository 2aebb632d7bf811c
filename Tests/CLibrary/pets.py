"""Creates, queries, observes and transfers objects. Arguments: the model file, the store, and a second store."""
import datetime
import decimal
import queue
import sys
import uuid

import polystore

model, url, other = sys.argv[1:4]


def fails(code, body):
    """Checks that a call raises an error with a code."""
    try:
        body()
    except polystore.Error as error:
        assert error.code == code, error
        return error
    raise AssertionError(f"no error {code}")


def create(transaction):
    ann = transaction.create("Person", name="Ann", age=30, born=born, tag=tag, saldo=decimal.Decimal("12.30"), photo=b"\0\1\2")
    bob = transaction.create("Person", name="Bób", age=20)
    transaction.create("Dog", name="Rex", owner=ann)
    return ann, bob


born = datetime.datetime(1996, 2, 3, 4, 5, 6, tzinfo=datetime.timezone.utc)
tag = uuid.UUID("c0ffee00-0000-4000-8000-000000000001")
with polystore.Stack.from_file(model) as stack:
    stack.add_store(url)
    ann, bob = stack.perform(create, author="pets", timeout=60)
    assert (ann, bob) == (1, 2)
    assert {entity["name"] for entity in stack.model["entities"]} == {"Person", "Dog"}

    [found] = stack.query("Person", where="born == $b AND tag == $t AND saldo == $s AND name IN $n",
                          arguments={"b": born, "t": tag, "s": decimal.Decimal("12.3"), "n": ["Ann", "Eve"]})
    assert found == {"entity": "Person", "key": 1, "version": 1, "name": "Ann", "age": 30, "born": "1996-02-03T04:05:06Z",
                     "tag": "C0FFEE00-0000-4000-8000-000000000001", "saldo": "12.3", "photo": "AAEC"}, found
    assert stack.query("Person", select=["name"], orderBy=["-age"], offset=1) == [{"name": "Bób"}]
    assert stack.query("Person", count=True) == 2
    [dog] = stack.query("Dog", prefetch=["owner"])
    assert dog["owner"]["name"] == "Ann"

    assert "\"owner\"" in fails("invalidPredicate", lambda: stack.query("Dog", prefetch=["ownr"])).message
    fails("invalidPredicate", lambda: stack.query("Dog", prefetch=[".".join(["owner", "dogs"] * 100_000)]))

    # Errors have the code of the library, and exceptions of the caller pass through and undo the transaction.
    error = fails("invalidPredicate", lambda: stack.query("Persn"))
    assert "Person" in error.message and not error.is_retryable
    fails("uniqueConstraintViolated", lambda: stack.perform(lambda t: t.create("Person", name="Ann")))
    error = fails("validationFailed", lambda: stack.perform(lambda t: t.create("Person", name="Old", age=-1)))
    assert error.details["failures"][0]["property"] == "age", error.details
    fails("staleObject", lambda: stack.perform(lambda t: t.update("Person", ann, age=31, version=7)))
    fails("readOnly", lambda: stack.read(lambda t: t.delete("Person", ann)))
    assert stack.read(lambda t: t.query("Person", count=True)) == 2

    def give_up(transaction):
        transaction.delete("Person", ann)
        kept.append(transaction)
        raise KeyError("given up")

    kept = []
    try:
        stack.perform(give_up)
        raise AssertionError("no exception")
    except KeyError as error:
        assert error.args == ("given up",)
    assert stack.query("Person", count=True) == 2
    fails("storeClosed", lambda: kept[0].delete("Person", ann))

    changes = queue.Queue()
    with stack.observe("Person", changes.put, orderBy=["name"]) as monitor:
        first = changes.get(timeout=30)
        assert first["reloaded"] and [item["name"] for item in first["objects"]] == ["Ann", "Bób"]
        stack.perform(lambda t: t.update("Person", bob, name="Abe"))
        change = changes.get(timeout=30)
        assert change["moved"] == [{"from": 1, "index": 0, "entity": "Person", "key": bob}] and change["inserted"] == [], change
        assert [item["name"] for item in monitor.objects] == ["Abe", "Ann"]
    stack.perform(lambda t: t.delete("Person", bob))
    assert changes.empty()

    # A call-back may close its own monitor.
    closing = []
    closing.append(stack.observe("Dog", lambda change: (closing[0].close() if closing else None, changes.put(change))))
    changes.get(timeout=30)
    closing[0].close()
    with stack.observe("Dog", changes.put):
        changes.get(timeout=30)
        [dog] = stack.query("Dog")
        stack.perform(lambda t: t.delete("Dog", dog["key"]))
        assert changes.get(timeout=30)["deleted"] == [{"index": 0, "entity": "Dog", "key": dog["key"]}]
        stack.perform(lambda t: t.create("Dog", name="Rex", owner=ann))
        assert changes.get(timeout=30)["objects"][0]["name"] == "Rex"
    fails("storeClosed", lambda: monitor.objects)
fails("storeClosed", lambda: stack.query("Person"))

if url != "memory:":
    seen = []
    report = polystore.transfer(url, other, progress=lambda step: seen.append(step["name"]))
    assert report["verified"] and "Person" in seen, (report, seen)
    fails("cancelled", lambda: polystore.transfer(url, other, ifExists="replace", progress=lambda step: False))
    with polystore.Stack.open(other) as copy:
        assert copy.query("Dog")[0]["name"] == "Rex"
assert polystore.live_handles() == 0, polystore.live_handles()
assert polystore.version().count(".") == 2

# A monitor keeps its stack, and a program may end with both.
def watch():
    stack = polystore.Stack.from_file(model)
    stack.add_store("memory:")
    return stack.observe("Person", changes.put)


monitor = watch()
assert changes.get(timeout=30)["objects"] == []
monitor._stack.perform(lambda t: t.create("Person", name="Eve"))
assert changes.get(timeout=30)["objects"][0]["name"] == "Eve"

"""What the measurements share: the program, places for stores, runs with their time and memory, and ratios."""

import json
import os
import pathlib
import random
import resource
import shutil
import statistics
import subprocess
import sys
import time
import urllib.parse

TOP = pathlib.Path(__file__).resolve().parents[2]
PROGRAM = os.environ.get("POLYSTORE", str(TOP / ".build/rel/release/polystore"))
SERVER = os.environ.get("POLYSTORE_TEST_POSTGRES", "")
FOLDER = pathlib.Path(os.environ.get("TMPDIR", "/tmp")) / "polystore-measurements"
KINDS = ["sqlite", "postgresql", "lmdb"]


def fail(text):
    sys.exit(f"FAILED: {text}")


def check(condition, text):
    if not condition:
        fail(text)


def prepare(name):
    """Returns an empty folder for a measurement."""
    for needed, remedy in [(PROGRAM, "build it, or name it by POLYSTORE"), (SERVER, "name a server by POLYSTORE_TEST_POSTGRES")]:
        check(needed and (needed is SERVER or os.path.exists(needed)), f"'{needed}' is missing: {remedy}")
    folder = FOLDER / name
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    return folder


def server_url(schema):
    return f"{SERVER}{'&' if '?' in SERVER else '?'}x-schema={schema}"


def url(kind, folder, name):
    """Returns the URL of a store of a kind; its schema on the server is named after the measurement."""
    if kind == "postgresql":
        return server_url(f"measured_{folder.name}_{name}")
    return f"{kind}:{folder / name}.{'db' if kind == 'sqlite' else kind}"


def schema_of(store):
    return urllib.parse.parse_qs(urllib.parse.urlsplit(store).query)["x-schema"][0]


def psql(statement):
    run = subprocess.run(["psql", "-X", "-q", "-At", "-v", "ON_ERROR_STOP=1", "-d", SERVER, "-c", statement], capture_output=True, text=True)
    check(run.returncode == 0, run.stderr)
    return run.stdout.strip()


def sqlite(path, statement):
    run = subprocess.run(["sqlite3", str(path), statement], capture_output=True, text=True)
    check(run.returncode == 0, run.stderr)
    return run.stdout.strip()


def remove(store):
    """Removes a store, complete or not, with everything that belongs to it."""
    if store.startswith("postgresql:"):
        psql(f'SET client_min_messages = error; DROP SCHEMA IF EXISTS "{schema_of(store)}" CASCADE')
        return
    path = pathlib.Path(store.split(":", 1)[1])
    for file in path.parent.glob(path.name + "*"):
        shutil.rmtree(file) if file.is_dir() else file.unlink()


def run(*arguments, code=0, input=None):
    """Runs the program and returns its output; its exit code must be as expected."""
    done = subprocess.run([PROGRAM, *map(str, arguments)], capture_output=True, text=True, input=input)
    expected = code if isinstance(code, (list, tuple)) else [code]
    check(done.returncode in expected, f"{' '.join(map(str, arguments))}: exit {done.returncode}\n{done.stdout[-2000:]}{done.stderr[-2000:]}")
    return done.stdout


class Times:
    """Wall times of a command in rounds, with the processor time of its process."""

    def __init__(self):
        self.wall, self.processor = [], []

    def run(self, command, **options):
        """Runs a command, which must succeed. Processes that it asks, such as a server, are not in the processor time."""
        before, start = resource.getrusage(resource.RUSAGE_CHILDREN), time.monotonic()
        done = subprocess.run(command, capture_output=True, text=True, **options)
        self.wall.append(time.monotonic() - start)
        after = resource.getrusage(resource.RUSAGE_CHILDREN)
        self.processor.append(after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime)
        check(done.returncode == 0, f"{command}: exit {done.returncode}\n{done.stdout[-2000:]}{done.stderr[-2000:]}")


def seconds(command):
    """Returns the wall time of a command, which must succeed."""
    times = Times()
    times.run(command)
    return times.wall[0]


def ratio(name, ones, others):
    """Prints the medians of two interleaved series, and the median of the ratios of the rounds."""
    rounds = [one / other for one, other in zip(ones.wall, others.wall)]
    work = [one / other for one, other in zip(ones.processor, others.processor)]
    print(
        f"{name}: {statistics.median(ones.wall):.2f} s against {statistics.median(others.wall):.2f} s, ratio {statistics.median(rounds):.2f} "
        f"({min(rounds):.2f} to {max(rounds):.2f}, {len(rounds)} rounds); processor time {statistics.median(ones.processor):.2f} s against "
        f"{statistics.median(others.processor):.2f} s, ratio {statistics.median(work):.2f} ({min(work):.2f} to {max(work):.2f})", flush=True)


def memory(process):
    """Waits for a process; returns the greatest resident memory in MiB: anonymous, and of mapped files."""
    anonymous = mapped = 0
    while process.poll() is None:
        try:
            lines = pathlib.Path(f"/proc/{process.pid}/status").read_text().splitlines()
        except (FileNotFoundError, ProcessLookupError):
            break
        values = {line.split(":")[0]: line.split()[1] for line in lines if line.startswith("Rss")}
        anonymous = max(anonymous, int(values.get("RssAnon", 0)))
        mapped = max(mapped, int(values.get("RssFile", 0)))
        time.sleep(0.02)
    process.wait()
    return anonymous / 1024, mapped / 1024


PEOPLE_MODEL = {
    "version": "1",
    "entities": [
        {"name": "Team", "attributes": [{"name": "code", "type": "string"}],
         "relationships": [{"name": "people", "to": "Person", "kind": "toMany", "inverse": "team"}], "unique": [["code"]]},
        {"name": "Tag", "attributes": [{"name": "word", "type": "string"}],
         "relationships": [{"name": "people", "to": "Person", "kind": "toMany", "inverse": "tags"}], "unique": [["word"]]},
        {"name": "Person",
         "attributes": [
             {"name": "name", "type": "string"}, {"name": "age", "type": "int64"}, {"name": "wage", "type": "double"},
             {"name": "joined", "type": "date"}, {"name": "note", "type": "string", "optional": True}],
         "relationships": [
             {"name": "team", "to": "Team", "kind": "toOne", "inverse": "people"},
             {"name": "friend", "to": "Person", "kind": "toOne"},
             {"name": "tags", "to": "Tag", "kind": "toMany", "inverse": "people"}],
         "indexes": [["age"]], "unique": [["name"]]},
    ],
}


def make_people(folder, store, count, seed=1):
    """Loads a store of `count` objects: people with a team, a friend and tags. One in ten people has three tags."""
    rng = random.Random(seed)
    teams, tags = max(count // 500, 1), max(count // 100, 1)
    people = count - teams - tags
    (folder / "model.json").write_text(json.dumps(PEOPLE_MODEL))
    (folder / "teams.csv").write_text("code\n" + "".join(f"t{n}\n" for n in range(teams)))
    (folder / "tags.csv").write_text("word\n" + "".join(f"w{n}\n" for n in range(tags)))
    with open(folder / "people.csv", "w") as file:
        file.write("name,age,wage,joined,note,team,friend,tags\n")
        for n in range(people):
            words = ";".join(f"w{tag}" for tag in rng.sample(range(tags), 3)) if n % 10 == 0 and tags > 2 else ""
            note = "" if n % 3 == 0 else f"note of {n}, ünïcode {rng.getrandbits(40):x}"
            file.write(
                f"p{n},{rng.randrange(90)},{rng.random() * 9000!r},2024-{n % 12 + 1:02}-{n % 28 + 1:02}T10:00:{n % 60:02}.{n % 1000000:06}Z,"
                f"\"{note}\",t{rng.randrange(teams)},p{rng.randrange(people)},{words}\n")
    mapping = {"files": [
        {"file": "teams.csv", "entity": "Team"}, {"file": "tags.csv", "entity": "Tag"},
        {"file": "people.csv", "entity": "Person", "separator": ";",
         "relationships": {"team": {"code": "team"}, "friend": {"name": "friend"}, "tags": {"word": "tags"}}}]}
    (folder / "load.json").write_text(json.dumps(mapping))
    run("load", store, "--model", folder / "model.json", "--mapping", folder / "load.json", "--quiet")
    return people


def check_once(store, entity, expected):
    """Checks with the tools of the engine that no key is there twice."""
    if store.startswith("sqlite:"):
        found = sqlite(store.split(":", 1)[1], f'SELECT count(*) || "|" || count(DISTINCT _id) FROM "{entity}"')
    elif store.startswith("postgresql:"):
        found = psql(f'SELECT count(*), count(DISTINCT _id) FROM "{schema_of(store)}"."{entity}"')
    else:
        found = "{0}|{0}".format(run("query", store, entity, "--count").strip())
    check(found == f"{expected}|{expected}", f"{store}: {entity} has {found} rows and keys, not {expected}")

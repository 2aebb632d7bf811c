#!/usr/bin/env python3
"""A million rows of eight attributes with two indexes, from SQLite to PostgreSQL, beside pgloader: interleaved, with equal digests.

usage: pgloader.py [--rows 1000000] [--rounds 3]
pgloader reads an ordinary table of SQLite. Polystore copies a store with the same rows, with and without verification, and the table itself as a
database of another program. What pgloader has made is compared with the table value by value too.
"""

import argparse
import json
import random
import shutil
import sqlite3
import subprocess

from measure import PROGRAM, SERVER, Times, check, prepare, psql, ratio, remove, run, server_url, url

COLUMNS = [
    ("code", "TEXT", "string"), ("rank", "INTEGER", "int64"), ("title", "TEXT", "string"), ("price", "REAL", "double"),
    ("amount", "INTEGER", "int64"), ("weight", "REAL", "double"), ("note", "TEXT", "string"), ("total", "INTEGER", "int64")]


def make_table(path, count):
    """Makes an ordinary table with two indexes. Its doubles are exact in four bytes, because pgloader makes such columns of REAL."""
    rng = random.Random(1)
    database = sqlite3.connect(path)
    database.execute("CREATE TABLE item (id INTEGER PRIMARY KEY, " + ", ".join(f"{name} {sql} NOT NULL" for name, sql, _ in COLUMNS) + ")")
    rows = (
        (n, f"c{n:08}", rng.randrange(1000), f"title of {n}", rng.randrange(4000) / 4, n % 7, n / 4 % 1000, f"a note that is longer {n % 100}", n * 3)
        for n in range(1, count + 1))
    database.executemany("INSERT INTO item VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)", rows)
    database.execute("CREATE INDEX item_code ON item (code)")
    database.execute("CREATE INDEX item_rank ON item (rank)")
    database.commit()
    database.close()


def make_store(folder, path, store):
    """Makes a store of the same rows and indexes."""
    model = {"version": "1", "entities": [
        {"name": "item", "attributes": [{"name": name, "type": kind} for name, _, kind in COLUMNS], "indexes": [["code"], ["rank"]]}]}
    (folder / "model.json").write_text(json.dumps(model))
    columns = ", ".join(name for name, _, _ in COLUMNS)
    with open(folder / "item.csv", "w") as file:
        subprocess.run(["sqlite3", "-csv", "-header", str(path), f"SELECT {columns} FROM item ORDER BY id"], stdout=file, check=True)
    run("load", store, folder / "item.csv", "--model", folder / "model.json", "--entity", "item", "--quiet")
    (folder / "item.csv").unlink()


def pgloader_script(folder, path, schema):
    query = dict(part.split("=") for part in SERVER.split("?", 1)[1].split("&"))
    database = SERVER.split("?")[0].rsplit("/", 1)[1]
    # The socket of a server, with its port, or an address.
    text = f"""LOAD DATABASE FROM sqlite://{path}
        INTO postgresql://{query.get('user', 'postgres')}@unix:{query['host']}:{query.get('port', 5432)}/{database}
        WITH include drop, create tables, create indexes, reset sequences
        SET search_path TO '{schema}';
    """
    (folder / "item.load").write_text(text)
    return folder / "item.load"


def main():
    arguments = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    arguments.add_argument("--rows", type=int, default=1_000_000)
    arguments.add_argument("--rounds", type=int, default=3)
    arguments = arguments.parse_args()
    check(shutil.which("pgloader"), "pgloader is missing: apt-get install pgloader")
    folder = prepare("pgloader")
    path, store = folder / "table.db", url("sqlite", folder, "store")
    make_table(path, arguments.rows)
    make_store(folder, path, store)
    foreign, target, theirs = f"sqlite:{path}?catalog=foreign", url("postgresql", folder, "target"), "measured_by_pgloader"
    script = pgloader_script(folder, path, theirs)
    forms = {
        "a store, without verification": [store, target, "--no-verify"], "a store, with verification": [store, target],
        "the same table, without verification": [foreign, target, "--no-verify"], "the same table, with verification": [foreign, target],
        "the same table to a plain table, with verification": [foreign, target, "--layout", "plain"]}
    times = {form: Times() for form in forms}
    other = Times()
    for _ in range(arguments.rounds):
        for form, command in forms.items():
            remove(target)
            times[form].run([PROGRAM, "transfer", *command, "--quiet"])
        psql(f"SET client_min_messages = error; DROP SCHEMA IF EXISTS {theirs} CASCADE; CREATE SCHEMA {theirs}")
        other.run(["pgloader", "--on-error-stop", str(script)])
    for form in forms:
        ratio(f"pgloader against {form}", other, times[form])
    # The digests: ours were compared by each transfer; the rows of pgloader are compared by ours.
    run("verify", foreign, server_url(theirs) + "&x-catalog=foreign", code=[0])
    for form in forms:
        remove(target)
        run("transfer", *forms[form], "--quiet")
    print("digests are equal: ours by verification, those of pgloader by verify")
    psql(f"SET client_min_messages = error; DROP SCHEMA {theirs} CASCADE")
    remove(target)


if __name__ == "__main__":
    main()

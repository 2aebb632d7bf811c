#!/usr/bin/env python3
"""A live transfer of a store to which a program writes 500 times a second, killed in each phase and continued, until the cut-over.

usage: live.py [--objects 300000] [--rate 500] [--undisturbed 2]
The program that writes is polystore-crash of the debug build, or another one that POLYSTORE_CRASH names.
In each of three directions there are undisturbed transfers, and one that is killed while it copies, twice while it follows, while it compares
before the cut-over, and while write transactions are refused.
"""

import argparse
import json
import os
import signal
import subprocess
import time

from measure import PROGRAM, TOP, check, check_once, fail, make_people, prepare, remove, run, url

WRITER = os.environ.get("POLYSTORE_CRASH", str(TOP / ".build/debug/polystore-crash"))


class Writer:
    """The program that writes."""

    def __init__(self, store, rate):
        self.process = subprocess.Popen(
            [WRITER, "--steady", store, str(rate)], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        check(self.process.stdout.readline().strip() == "ready", "the writer did not begin")

    def wait_for_refusal(self):
        line = self.process.stdout.readline()
        check(line.startswith("refused storeMoved"), f"the writer said {line}")

    def end(self):
        output, _ = self.process.communicate()
        check(self.process.returncode == 0, "the writer failed")
        return json.loads(output.splitlines()[-1])


def transfer(source, target, *options):
    return subprocess.Popen(
        [PROGRAM, "transfer", source, target, "--live", *options], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)


def kill(process, phase):
    if process.poll() is not None:
        fail(f"the transfer ended before it was killed ({phase}): {process.communicate()}")
    process.send_signal(signal.SIGKILL)
    process.communicate()


def line_of(process, text, phase):
    """Waits until the transfer says something on its standard error."""
    start = time.monotonic()
    while True:
        line = process.stderr.readline()
        if text in line:
            return time.monotonic() - start
        check(line or process.poll() is None, f"the transfer ended ({phase})")


def cut_over(source, target):
    start = time.monotonic()
    process = transfer(source, target, "--cut-over", "--json")
    output, errors = process.communicate()
    check(process.returncode == 0, f"cut-over: exit {process.returncode}: {errors}")
    return json.loads(output), time.monotonic() - start


def check_written(source, target, people, before, writer):
    """Every acknowledged write is in the target once, and nothing else."""
    done = writer["transactions"]
    run("verify", source, target, "--rows")
    run("check", target)
    rows = run("query", target, "Person", "--where", 'name BEGINSWITH "s"', "--select", "name").splitlines()
    found = sorted(int(json.loads(row)["name"][1:]) for row in rows)
    expected = [number for number in range(1, done + 1) if number % 10 != 1 or number + 9 > done]
    check(found == expected, f"{target}: {len(found)} of {len(expected)} written people")
    check_once(target, "Person", people + len(expected))
    after = json.loads(run("query", target, "Person", "--select", "@sum(age) AS sum"))["sum"]
    check(after - before == 3000 * done, f"{target}: {(after - before) / 1000} of {3 * done} counts")


def prepared(source, target, base, folder):
    for store in (source, target):
        remove(store)
    run("transfer", base, source, "--quiet")
    return json.loads(run("query", source, "Person", "--select", "@sum(age) AS sum"))["sum"]


def describe(report, result):
    return (f"pause {report['pause']} s, {report['drained']} transactions drained, {report['compared']} rows compared; the writer made "
            f"{result['transactions']} transactions of 5 writes at {result['transactions'] * 5 / result['accepted']:.0f} a second while they were accepted, "
            f"longest time without one before it stopped {result['longest']:.2f} s, {result['refusals']} refusals")


def undisturbed(source, target, base, folder, people, rate):
    before = prepared(source, target, base, folder)
    writer = Writer(source, rate)
    report, duration = cut_over(source, target)
    result = writer.end()
    check_written(source, target, people, before, result)
    print(f"{source.split(':')[0]} to {target.split(':')[0]}: undisturbed, {duration:.1f} s; {describe(report, result)}", flush=True)
    return duration


def killed(source, target, base, folder, people, rate, whole):
    before = prepared(source, target, base, folder)
    writer = Writer(source, rate)
    phases = []
    # While it copies, three times.
    for part in (0.1, 0.2, 0.3):
        process = transfer(source, target)
        time.sleep(whole * part)
        kill(process, "copying")
        phases.append("copying")
    # While it follows, twice.
    for _ in range(2):
        process = transfer(source, target)
        line_of(process, "changes are followed", "following")
        time.sleep(1)
        kill(process, "following")
        phases.append("following")
    # While it compares before the cut-over, when nothing is refused yet.
    process = transfer(source, target, "--cut-over")
    time.sleep(min(0.25, whole / 10))
    kill(process, "comparing")
    phases.append("before the fence")
    # While write transactions are refused.
    process = transfer(source, target, "--cut-over")
    writer.wait_for_refusal()
    kill(process, "fenced")
    phases.append("while writes are refused")
    report, _ = cut_over(source, target)
    result = writer.end()
    check_written(source, target, people, before, result)
    print(f"{source.split(':')[0]} to {target.split(':')[0]}: killed {len(phases)} times ({', '.join(phases)}); {describe(report, result)}", flush=True)


def main():
    arguments = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    arguments.add_argument("--objects", type=int, default=300_000)
    arguments.add_argument("--rate", type=int, default=500)
    arguments.add_argument("--undisturbed", type=int, default=2)
    arguments = arguments.parse_args()
    check(os.path.exists(WRITER), f"'{WRITER}' is missing: swift build --product polystore-crash")
    folder = prepare("live")
    base = url("sqlite", folder, "base")
    people = make_people(folder, base, arguments.objects)
    for kind, other in [("sqlite", "postgresql"), ("postgresql", "lmdb"), ("lmdb", "sqlite")]:
        source, target = url(kind, folder, "source"), url(other, folder, "target")
        for _ in range(arguments.undisturbed):
            whole = undisturbed(source, target, base, folder, people, arguments.rate)
        killed(source, target, base, folder, people, arguments.rate, whole)
        for store in (source, target):
            remove(store)
    print("nothing lost")


if __name__ == "__main__":
    main()

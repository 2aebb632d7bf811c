#!/usr/bin/env python3
"""kill -9 at random moments of a transfer: the same command is repeated until it has finished, and nothing is lost or there twice.

usage: kills.py [--objects 500000] [--kills 9] [--seed 1]       (kills in each of the six directions between durable stores)
"""

import argparse
import random
import signal
import subprocess
import time

from measure import KINDS, PROGRAM, check, check_once, make_people, prepare, remove, run, seconds, url


def killed_transfer(source, target, pause):
    """Returns whether the transfer was killed before it had finished."""
    process = subprocess.Popen([PROGRAM, "transfer", source, target, "--quiet"], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    try:
        _, errors = process.communicate(timeout=pause)
    except subprocess.TimeoutExpired:
        process.send_signal(signal.SIGKILL)
        process.communicate()
        if process.returncode == -signal.SIGKILL:
            return True
        errors = ""
    check(process.returncode == 0, f"{source} to {target}: exit {process.returncode}: {errors}")
    return False


def verify(source, target, people):
    run("verify", source, target, "--rows")
    run("check", target)
    check_once(target, "Person", people)
    # What is complete is compared and not copied again.
    run("transfer", source, target, "--quiet")


def direction(source, target, people, kills, rng):
    remove(target)
    whole = seconds([PROGRAM, "transfer", source, target, "--quiet"])
    done = finished = 0
    moments, longest = [], 0
    while done < kills:
        remove(target)
        row = []
        while True:
            pause = rng.uniform(0.01, whole * 1.1)
            if killed_transfer(source, target, pause):
                row.append(pause / whole)
                # A transfer that is killed again and again has to end at some time.
                if len(row) < 6:
                    continue
                check(not killed_transfer(source, target, 600), f"{target} does not finish")
            break
        if not row:
            continue
        verify(source, target, people)
        done, finished, longest = done + len(row), finished + 1, max(longest, len(row))
        moments += row
    text = " ".join(f"{moment:.2f}" for moment in moments)
    print(f"{source.split(':')[0]} to {target.split(':')[0]}: {done} kills in {finished} transfers (up to {longest} in one), "
          f"an undisturbed one takes {whole:.1f} s; moments as parts of it: {text}", flush=True)
    remove(target)
    return done


def main():
    arguments = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    arguments.add_argument("--objects", type=int, default=500_000)
    arguments.add_argument("--kills", type=int, default=9, help="in each direction")
    arguments.add_argument("--seed", type=int, default=1)
    arguments = arguments.parse_args()
    folder, rng = prepare("kills"), random.Random(arguments.seed)
    sources = {kind: url(kind, folder, "source") for kind in KINDS}
    for store in sources.values():
        remove(store)
    people = make_people(folder, sources["sqlite"], arguments.objects)
    for kind in KINDS[1:]:
        run("transfer", sources["sqlite"], sources[kind], "--quiet")
    start, total = time.monotonic(), 0
    for kind in KINDS:
        for other in KINDS:
            if kind != other:
                total += direction(sources[kind], url(other, folder, "target"), people, arguments.kills, rng)
    for store in sources.values():
        remove(store)
    print(f"{total} kills in {time.monotonic() - start:.0f} s: nothing lost, nothing twice")


if __name__ == "__main__":
    main()

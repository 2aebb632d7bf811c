#!/usr/bin/env python3
"""The package index of this Debian machine (packages, dependencies, tags, with cycles) in every store, and a set of queries.

usage: debian.py            (apt-get update first, if /var/lib/apt/lists is empty)
It is loaded into SQLite, and copied from there to LMDB, PostgreSQL, SQLite again and memory. Each copy is verified and checked, the archives are equal,
and each of the queries below is answered by every store as it is computed here from the files.
"""

import collections
import csv
import hashlib
import json
import re
import subprocess
import sys
import time

from measure import PROGRAM, check, prepare, remove, run, url

KINDS = ["Depends", "Pre-Depends", "Recommends", "Suggests", "Enhances", "Breaks", "Conflicts", "Replaces"]

MODEL = {
    "version": "1",
    "entities": [
        {"name": "Package",
         "attributes": [
             {"name": "name", "type": "string"}, {"name": "version", "type": "string"}, {"name": "section", "type": "string"},
             {"name": "installedSize", "type": "int64", "optional": True}, {"name": "size", "type": "int64"},
             {"name": "summary", "type": "string"}, {"name": "homepage", "type": "string", "optional": True}],
         "relationships": [
             {"name": "maintainer", "to": "Maintainer", "kind": "toOne", "inverse": "packages"},
             {"name": "tags", "to": "Tag", "kind": "toMany", "inverse": "packages"},
             {"name": "provides", "to": "Virtual", "kind": "toMany", "inverse": "providers"},
             {"name": "dependsOn", "to": "Package", "kind": "toMany", "inverse": "dependents"},
             {"name": "dependents", "to": "Package", "kind": "toMany", "inverse": "dependsOn"},
             {"name": "dependencies", "to": "Dependency", "kind": "toMany", "inverse": "package"},
             {"name": "references", "to": "Dependency", "kind": "toMany", "inverse": "target"}],
         "indexes": [["section"]], "unique": [["name"]]},
        {"name": "Maintainer", "attributes": [{"name": "name", "type": "string"}],
         "relationships": [{"name": "packages", "to": "Package", "kind": "toMany", "inverse": "maintainer"}], "unique": [["name"]]},
        {"name": "Tag", "attributes": [{"name": "name", "type": "string"}],
         "relationships": [{"name": "packages", "to": "Package", "kind": "toMany", "inverse": "tags"}], "unique": [["name"]]},
        {"name": "Virtual", "attributes": [{"name": "name", "type": "string"}],
         "relationships": [{"name": "providers", "to": "Package", "kind": "toMany", "inverse": "provides"}], "unique": [["name"]]},
        {"name": "Dependency",
         "attributes": [
             {"name": "kind", "type": "string"}, {"name": "clause", "type": "int64"}, {"name": "alternative", "type": "int64"},
             {"name": "name", "type": "string"}, {"name": "relation", "type": "string", "optional": True},
             {"name": "version", "type": "string", "optional": True}],
         "relationships": [
             {"name": "package", "to": "Package", "kind": "toOne", "inverse": "dependencies"},
             {"name": "target", "to": "Package", "kind": "toOne", "inverse": "references"}],
         "indexes": [["name"]]},
    ],
}


def records():
    """The records of all indexes of packages; of those with the same name the first one."""
    names = subprocess.run(
        ["apt-get", "indextargets", "--format", "$(FILENAME)", "Created-By: Packages"], capture_output=True, text=True, check=True)
    found = {}
    for name in names.stdout.split():
        text = subprocess.run(["/usr/lib/apt/apt-helper", "cat-file", name], capture_output=True, check=True).stdout.decode()
        for block in text.split("\n\n"):
            fields = dict(re.findall(r"^([A-Za-z0-9-]+):[ ]?((?:.*)(?:\n[ \t].*)*)", block, re.M))
            if "Package" in fields:
                found.setdefault(fields["Package"], {key: re.sub(r"\n[ \t]*", " ", value).strip() for key, value in fields.items()})
    check(found, "there are no indexes of packages: apt-get update")
    return found


class Index:
    """The objects, as they are computed from the records."""

    def __init__(self, found):
        self.packages, self.tags, self.provides, self.depends, self.dependencies = found, {}, {}, {}, []
        for name, fields in found.items():
            self.tags[name] = sorted({tag for tag in re.split(r",\s*", fields.get("Tag", "")) if tag})
            self.provides[name] = sorted({re.split(r"[ (]", part, maxsplit=1)[0] for part in re.split(r",\s*", fields.get("Provides", "")) if part})
            targets = set()
            for kind in KINDS:
                for clause, alternatives in enumerate(part for part in re.split(r",\s*", fields.get(kind, "")) if part):
                    for number, text in enumerate(re.split(r"\s*\|\s*", alternatives)):
                        match = re.fullmatch(r"([^ (:]+)(?::\w+)?\s*(?:\(([<>=]+)\s*([^)]+)\))?\s*(?:\[.*\])?", text.strip())
                        check(match, f"{name}: {kind} is '{text}'")
                        target = match[1] if match[1] in found else ""
                        self.dependencies.append((name, kind, clause, number, match[1], match[2] or "", match[3] or "", target))
                        if target and kind in ("Depends", "Pre-Depends"):
                            targets.add(target)
            self.depends[name] = sorted(targets)

    def write(self, folder):
        def table(name, header, rows):
            with open(folder / f"{name}.csv", "w", newline="") as file:
                writer = csv.writer(file)
                writer.writerow(header)
                writer.writerows(rows)

        every = self.packages.values()
        for name, values in [
            ("maintainers", {fields["Maintainer"] for fields in every}), ("tags", {tag for tags in self.tags.values() for tag in tags}),
            ("virtuals", {name for names in self.provides.values() for name in names})]:
            table(name, ["name"], [[value] for value in sorted(values)])
        header = ["name", "version", "section", "installedSize", "size", "summary", "homepage", "who", "words", "virtual", "on"]
        table("packages", header, [
            [name, f["Version"], f["Section"], f.get("Installed-Size", ""), f["Size"], f["Description"], f.get("Homepage", ""), f["Maintainer"],
             ";".join(self.tags[name]), ";".join(self.provides[name]), ";".join(self.depends[name])] for name, f in self.packages.items()])
        table("dependencies", ["of", "kind", "clause", "alternative", "name", "relation", "version", "to"], self.dependencies)
        (folder / "model.json").write_text(json.dumps(MODEL))
        files = [
            {"file": f"{name}.csv", "entity": entity}
            for name, entity in [("maintainers", "Maintainer"), ("tags", "Tag"), ("virtuals", "Virtual")]]
        files.append({"file": "packages.csv", "entity": "Package", "separator": ";", "relationships": {
            "maintainer": {"name": "who"}, "tags": {"name": "words"}, "provides": {"name": "virtual"}, "dependsOn": {"name": "on"}}})
        files.append({"file": "dependencies.csv", "entity": "Dependency", "relationships": {"package": {"name": "of"}, "target": {"name": "to"}}})
        (folder / "load.json").write_text(json.dumps({"files": files}))

    def cycles(self):
        """The strongly connected parts with more than one package, by the algorithm of Kosaraju."""
        order, seen = [], set()
        backward = collections.defaultdict(list)
        for name, targets in self.depends.items():
            for target in targets:
                backward[target].append(name)
        for start in self.depends:
            stack = [(start, iter(self.depends[start]))] if start not in seen else []
            seen.add(start)
            while stack:
                following = next((name for name in stack[-1][1] if name not in seen), None)
                if following is None:
                    order.append(stack.pop()[0])
                else:
                    seen.add(following)
                    stack.append((following, iter(self.depends[following])))
        parts, seen = [], set()
        for start in reversed(order):
            part, waiting = [], [start]
            while waiting:
                name = waiting.pop()
                if name not in seen:
                    seen.add(name)
                    part.append(name)
                    waiting += backward[name]
            if len(part) > 1:
                parts.append(part)
        return parts

    def dependents(self):
        return collections.Counter(target for targets in self.depends.values() for target in targets)


def rows(counter, *names):
    """Rows of a count by a key, the greatest first."""
    return [dict(zip(names, (key, count))) for key, count in sorted(counter.items(), key=lambda item: (-item[1], item[0].encode()))]


def queries(index):
    """The queries: what is asked, the arguments, and the answer that is computed from the files."""
    f, deps = index.packages, index.dependencies
    sections = collections.defaultdict(lambda: [0, 0])
    for fields in f.values():
        sections[fields["Section"]][0] += 1
        sections[fields["Section"]][1] += int(fields.get("Installed-Size", 0))
    largest = sorted(f, key=lambda name: (-int(f[name].get("Installed-Size", 0)), name.encode()))[:5]
    gcc = {name for name in f if f[name]["Maintainer"].startswith("Debian GCC")}
    mutual = sorted((name for name in f if any(name in index.depends[other] for other in index.depends[name])), key=str.encode)
    direct = {name: set(targets) for name, targets in index.depends.items()}
    yield "the number of packages", ["Package", "--count"], len(f)
    yield "the packages on which most others depend", [
        "Package", "--select", "name, dependents.@count AS n", "--order-by", "-dependents.@count, name", "--limit", "10"
    ], rows(index.dependents(), "name", "n")[:10]
    yield "number and size of packages by section", [
        "Package", "--select", "section, @count() AS n, @sum(installedSize) AS size", "--group-by", "section", "--order-by", "-n, section"
    ], [{"section": s, "n": n, "size": size} for s, (n, size) in sorted(sections.items(), key=lambda item: (-item[1][0], item[0].encode()))]
    yield "programs for GTK, by two conditions on tags", [
        "Package", "--where", 'ANY tags.name == "role::program" AND ANY tags.name == "uitoolkit::gtk"', "--count"
    ], sum({"role::program", "uitoolkit::gtk"} <= set(tags) for tags in index.tags.values())
    yield "dependencies that lead to no package, by kind", [
        "Dependency", "--where", "target == NIL", "--select", "kind, @count() AS n", "--group-by", "kind", "--order-by", "-n, kind"
    ], rows(collections.Counter(d[1] for d in deps if not d[7]), "kind", "n")
    yield "packages that depend on each other", [
        "Package", "--where", "ANY dependsOn SATISFIES $x (ANY $x.dependsOn == SELF)", "--select", "name", "--order-by", "name"
    ], [{"name": name} for name in mutual]
    yield "packages that depend on what the GCC maintainers maintain", [
        "Package", "--where", 'ANY dependsOn.maintainer.name BEGINSWITH "Debian GCC"', "--count"
    ], sum(bool(gcc & targets) for targets in direct.values())
    yield "packages whose summary mentions an orbit, in any case", [
        "Package", "--where", 'summary CONTAINS[cd] "orbit"', "--select", "name", "--order-by", "name"
    ], [{"name": name} for name in sorted((name for name in f if "orbit" in f[name]["Description"].lower()), key=str.encode)]
    yield "the maintainers of most packages", [
        "Package", "--select", "maintainer.name AS who, @count() AS n", "--group-by", "maintainer.name", "--order-by", "-n, who", "--limit", "10"
    ], rows(collections.Counter(fields["Maintainer"] for fields in f.values()), "who", "n")[:10]
    yield "the versions of libc6 that are required", [
        "Dependency", "--where", 'target.name == "libc6" AND relation == ">="', "--select", "version, @count() AS n", "--group-by", "version",
        "--order-by", "-n, version"
    ], rows(collections.Counter(d[6] for d in deps if d[7] == "libc6" and d[5] == ">="), "version", "n")
    yield "the largest packages", [
        "Package", "--select", "name, installedSize", "--order-by", "-installedSize, name", "--limit", "5"
    ], [{"name": name, "installedSize": int(f[name]["Installed-Size"])} for name in largest]
    yield "virtual packages by providers", [
        "Virtual", "--select", "name, providers.@count AS n", "--order-by", "-providers.@count, name", "--limit", "10"
    ], rows(collections.Counter(name for names in index.provides.values() for name in names), "name", "n")[:10]


def archive(store):
    """The digest of the lines of an archive without the history."""
    process = subprocess.Popen([PROGRAM, "dump", store, "--no-history"], stdout=subprocess.PIPE)
    digest = hashlib.sha256()
    while block := process.stdout.read(1 << 20):
        digest.update(block)
    check(process.wait() == 0, f"dump {store}")
    return digest.hexdigest()


def main():
    if len(sys.argv) > 1:
        sys.exit(__doc__)
    folder = prepare("debian")
    index = Index(records())
    index.write(folder)
    parts = index.cycles()
    edges = sum(map(len, index.depends.values()))
    print(f"{len(index.packages)} packages, {len(index.dependencies)} dependencies, {sum(map(len, index.tags.values()))} tags of packages, "
          f"{edges} edges between packages, {len(parts)} cycles with {sum(map(len, parts))} packages", flush=True)
    chain = [url("sqlite", folder, "first"), url("lmdb", folder, "second"), url("postgresql", folder, "third"), url("sqlite", folder, "fourth")]
    for store in chain:
        remove(store)
    run("load", chain[0], "--model", folder / "model.json", "--mapping", folder / "load.json", "--quiet", "--strict")
    for source, target in zip(chain, chain[1:]):
        run("transfer", source, target, "--quiet")
        run("verify", chain[0], target, "--rows")
    run("transfer", chain[-1], "memory:", "--quiet")
    for store in chain:
        run("check", store)
    archives = {archive(store) for store in chain}
    check(len(archives) == 1, "the archives differ")
    print("SQLite to LMDB to PostgreSQL to SQLite to memory: verified, checked, archives equal", flush=True)
    for title, arguments, expected in queries(index):
        times = []
        for store in chain[:3]:
            start = time.monotonic()
            answer = [json.loads(line) for line in run("query", store, *arguments).splitlines()]
            times.append(f"{store.split(':')[0]} {time.monotonic() - start:.2f} s")
            check(answer == (expected if isinstance(expected, list) else [expected]),
                  f"{title}: {store} says {str(answer)[:500]}, expected {str(expected)[:500]}")
        size = len(expected) if isinstance(expected, list) else expected
        print(f"{title}: {size}, the same in all ({', '.join(times)})", flush=True)
    for store in chain:
        remove(store)


if __name__ == "__main__":
    main()

internal import Foundation
internal import PolystoreStorage

/// Cases of group C: rows are created, read, changed and deleted.
enum ObjectCases {
    static let all: [ConformanceCase] = [
        ConformanceCase("C001.reads-its-own-writes", clause: "W3") { harness, check in
            try harness.withStore { scratch in
                try scratch.write { writer in
                    let key = try scratch.insert("Thing", [["text": .string("a")]], writer)[0]
                    check.equal(try scratch.fetch(ObjectRequest("Thing"), writer).map(\.key), [key], "keys in the transaction")
                }
            }
        },
        ConformanceCase("C002.many-in-one-transaction", clause: "R3") { harness, check in
            try harness.withStore { scratch in
                for count in [1, 2, 999, 1000, 1001] { try scratch.insert("Tag", (0..<count).map { ["name": .string("n\($0)")] }) }
                check.equal(try scratch.aggregate("Tag", .count, nil), .int(3003), "count")
                check.equal(Set(try scratch.keys(ObjectRequest("Tag"))).count, 3003, "different keys")
            }
        },
        ConformanceCase("C003.missing-key-is-no-row", clause: "S3") { harness, check in
            try harness.withStore { scratch in check.equal(try scratch.rows("Thing", keys: [12345]).count, 0, "rows") }
        },
        ConformanceCase("C004.rows-come-in-the-order-of-keys", clause: "S3") { harness, check in
            try harness.withFixture { scratch in
                check.equal(try scratch.rows("Thing", keys: [5, 1, 99, 8, 1]).map(\.key), [5, 1, 8, 1], "keys")
                check.equal(try scratch.rows("Thing", keys: []).count, 0, "no keys")
            }
        },
        ConformanceCase("C004.row-of-one-key", clause: "S3") { harness, check in
            try harness.withStore { scratch in
                let key = try scratch.insert("Tree", [["height": .int(9)]])[0]
                for name in ["Plant", "Tree", "Flower"] {
                    check.equal(try scratch.row(name, key: key), try scratch.rows("Plant", keys: [key]), "fetched as \(name)")
                }
                check.equal(try scratch.row("Plant", key: key).first?.values["height"], .int(9), "height")
                check.equal(try scratch.row("Plant", key: key + 1).count, 0, "missing")
                try scratch.write { writer in
                    let new = try scratch.insert("Flower", [["color": .string("red")]], writer)[0]
                    check.equal(try scratch.row("Plant", key: new, writer).map(\.entity), ["Flower"], "in the transaction that created it")
                }
            }
        },
        ConformanceCase("C006.names-that-engines-use-themselves", clause: "V6") { harness, check in
            let long = String(repeating: "long", count: 50)
            let names = [
                "name", "Name", "NAME", "ctid", "xmin", "oid", "tableoid", "rowid", "select", "order", "größe", "value", long + "A",
                long + "B",
            ]
            let entities = ["Row", "row", "sqlite_master", "pg_class", "select", "Ärger", long + "C", long + "D"].map { name in
                Entity(
                    name, attributes: names.map { Attribute($0, .string, isOptional: true) }, indexes: [Index(["xmin"])],
                    uniqueConstraints: [UniqueConstraint(["Name", "rowid"])])
            }
            let schema = try Schema(entities: entities)
            try harness.withStore(schema) { scratch in
                for entity in entities {
                    let values = Dictionary(uniqueKeysWithValues: names.map { ($0, Value.string("\(entity.name).\($0)")) })
                    let key = try scratch.insert(entity.name, [values])[0]
                    check.equal(try scratch.rows(entity.name, keys: [key]).first?.values, values, "values of \(entity.name)")
                    let wanted = QueryPredicate.compare(.path(PropertyPath("NAME")), .equal, .value(.string("\(entity.name).NAME")))
                    check.equal(try scratch.keys(ObjectRequest(entity.name, where: wanted)), [key], "keys of \(entity.name)")
                }
            }
        },
        ConformanceCase("L001.update-raises-the-version", clause: "S7") { harness, check in
            try harness.withStore { scratch in
                let key = try scratch.insert("Thing", [["number": .int(1)]])[0]
                check.equal(try scratch.rows("Thing", keys: [key]).first?.version, 1, "version of a new row")
                try scratch.update("Thing", key, ["number": .int(2)])
                check.equal(try scratch.rows("Thing", keys: [key]).first?.version, 2, "version after an update")
            }
        },
        ConformanceCase("L004.update-of-a-missing-row", clause: "E1") { harness, check in
            try harness.withStore { scratch in
                check.throwing(.notFound, "update") { try scratch.update("Thing", 77, ["number": .int(2)]) }
            }
        },
        ConformanceCase("C008.delete", clause: "R4") { harness, check in
            try harness.withStore { scratch in
                let keys = try scratch.insert("Thing", [["number": .int(1)], ["number": .int(2)]])
                try scratch.delete("Thing", [keys[0]])
                check.equal(try scratch.keys(ObjectRequest("Thing")), [keys[1]], "remaining objects")
                check.throwing(.notFound, "second delete") { try scratch.delete("Thing", [keys[0]]) }
            }
        },
        ConformanceCase("U006.delete-and-insert-of-one-unique-value", clause: "W14") { harness, check in
            try harness.withStore { scratch in
                let old = try scratch.insert("Thing", [["code": .string("x")]])[0]
                let thing = try scratch.entity("Thing")
                try scratch.write { writer in
                    let key = try writer.reserveKeys(thing, count: 1).lowerBound
                    let inserts = scratch.source(thing, [(key, 1, ["code": .string("x")])])
                    try writer.apply(
                        ChangeSet(entities: [EntityChanges(entity: thing, deletes: [RowDeletion(key: old)], inserts: inserts)]))
                }
                check.equal(try scratch.fetch(ObjectRequest("Thing")).map { $0.values["code"] ?? .null }, [.string("x")], "codes")
            }
        },
        ConformanceCase("U019.unique-values-change-places", clause: "W14") { harness, check in
            try harness.withStore { scratch in
                let keys = try scratch.insert("Thing", [["code": .string("a")], ["code": .string("b")], ["code": .string("c")]])
                let changes = try scratch.updates(
                    "Thing",
                    [(keys[0], 1, ["code": .string("b")]), (keys[1], 1, ["code": .string("c")]), (keys[2], 1, ["code": .string("a")])])
                try scratch.write { try $0.apply(ChangeSet(entities: [changes])) }
                check.equal(
                    try scratch.rows("Thing", keys: keys).map { $0.values["code"] ?? .null }, ["b", "c", "a"].map(Value.string), "codes")
            }
        },
        ConformanceCase("C013.key-stays", clause: "R1") { harness, check in
            try harness.withStore { scratch in
                let key = try scratch.insert("Tree", [["name": .string("oak"), "height": .int(3)]])[0]
                try scratch.update("Tree", key, ["height": .int(4), "name": .null])
                check.equal(try scratch.keys(ObjectRequest("Plant")), [key], "keys")
            }
        },
        ConformanceCase("C015.keys-are-never-used-again", clause: "R1") { harness, check in
            try harness.withStore { scratch in
                let first = try scratch.insert("Thing", [[:], [:]])
                try scratch.delete("Thing", first)
                if harness.capabilities.contains(.persistent) { try scratch.reopen() }
                let second = try scratch.insert("Thing", [[:], [:]])
                check.isTrue(Set(first).isDisjoint(with: second), "keys after a delete differ")
            }
        },
        ConformanceCase("C015.bulk-load-raises-the-counter", clause: "R1") { harness, check in
            try harness.withStore { scratch in
                try scratch.load("Thing", [(5000, [:])])
                check.isTrue(try scratch.insert("Thing", [[:]])[0] > 5000, "the next key is above the loaded ones")
            }
        },
        ConformanceCase("C020.bulk-load-refuses-a-key-that-is-there", clause: "S4") { harness, check in
            try harness.withStore { scratch in
                try scratch.load("Thing", [(1, [:]), (2, [:])])
                check.throwing(.alreadyExists, "load") { try scratch.load("Thing", [(2, [:])]) }
                check.equal(try scratch.keys(ObjectRequest("Thing")), [1, 2], "keys")
            }
        },
        ConformanceCase("C021.bulk-load-out-of-order", clause: "S4") { harness, check in
            try harness.withStore { scratch in
                try scratch.load("Thing", [(30, ["number": .int(3)]), (10, ["number": .int(1)]), (20, ["number": .int(2)])])
                check.equal(try scratch.keys(ObjectRequest("Thing")), [10, 20, 30], "keys")
                let above = QueryPredicate.compare(.path("number"), .greater, .value(.int(1)))
                check.equal(try scratch.keys(ObjectRequest("Thing", where: above)), [20, 30], "keys by an index")
            }
        },
        ConformanceCase("C030.missing-place", clause: "E1") { harness, check in
            try harness.withStore { scratch in
                try scratch.store.close()
                let other = try scratch.another()
                if harness.capabilities.contains(.persistent) { try other.erase() }
                check.throwing([.notFound, .notADatabase], "open without a schema") { _ = try other.open(OpenRequest(schema: nil)) }
                check.throwing([.notFound, .notADatabase], "open what may not be made") {
                    _ = try other.open(OpenRequest(schema: scratch.schema, createIfMissing: false))
                }
            }
        },
        ConformanceCase("C031.read-only", clause: "E1", needs: [.persistent]) { harness, check in
            try harness.withStore { scratch in
                let key = try scratch.insert("Thing", [["number": .int(1)]])[0]
                try scratch.store.close()
                let store = try scratch.another(OpenRequest(schema: scratch.schema, readOnly: true))
                defer { try? store.close() }
                check.throwing(.readOnly, "write") { _ = try store.beginWrite(WriteOptions()) }
                let reader = try store.beginRead()
                defer { reader.end() }
                let batch = RowBatch()
                try reader.rows(try scratch.entity("Thing"), keys: [key], into: batch)
                check.equal(batch.count, 1, "rows")
            }
        },
        ConformanceCase("C033.closed-store", clause: "E3") { harness, check in
            try harness.withStore { scratch in
                try scratch.store.close()
                try scratch.store.close()
                check.throwing(.storeClosed, "read") { _ = try scratch.store.beginRead() }
                check.throwing(.storeClosed, "write") { _ = try scratch.store.beginWrite(WriteOptions()) }
            }
        },
        ConformanceCase("C034.erase", clause: "E1") { harness, check in
            try harness.withStore { scratch in
                try scratch.insert("Tag", [[:]])
                try scratch.store.erase()
                let store = try scratch.another()
                check.throwing([.notFound, .notADatabase], "open an erased store") {
                    _ = try store.open(OpenRequest(schema: nil, createIfMissing: false))
                }
            }
        },
        ConformanceCase("C035.other-schema", clause: "S1", needs: [.persistent]) { harness, check in
            try harness.withStore { scratch in
                try scratch.store.close()
                let other = try Schema(entities: [Entity("Thing", attributes: [Attribute("number", .string)])])
                let store = try scratch.another()
                check.throwing(.schemaMismatch, "open with another schema") { _ = try store.open(OpenRequest(schema: other)) }
            }
        },
        ConformanceCase("C036.the-schema-lies-in-the-store", clause: "S1", needs: [.persistent]) {
            harness, check in
            try harness.withStore { scratch in
                try scratch.store.close()
                let store = try scratch.another()
                let state = try store.open(OpenRequest(schema: nil))
                check.equal(state.schema, scratch.schema, "schema")
                check.equal(state.wasCreated, false, "was created")
                try store.close()
            }
        },
        ConformanceCase("C040.links", clause: "R6") { harness, check in
            try harness.withStore { scratch in
                try linksFact(scratch, check)
            }
        },
        ConformanceCase("C041.ordered-links", clause: "R5") { harness, check in
            try harness.withStore { scratch in
                let link = try index("Playlist.items", scratch)
                let pairs = [(30, 7), (10, 9), (20, 8)].map { LinkPair(owner: 1, rank: $0, member: $1) }
                try scratch.write { try $0.apply(ChangeSet(links: [LinkChanges(link: link, added: pairs)])) }
                check.equal(try scratch.links("Playlist.items", .owner, [1]).map(\.member), [9, 8, 7], "order")
                let moved = LinkPair(owner: 1, rank: 5, member: 7)
                try scratch.write { try $0.apply(ChangeSet(links: [LinkChanges(link: link, added: [moved])])) }
                check.equal(try scratch.links("Playlist.items", .owner, nil).map(\.member), [7, 9, 8], "order after a move")
            }
        },
        ConformanceCase("C042.hierarchy", clause: "R10") { harness, check in
            try harness.withStore { scratch in
                try scratch.insert("Tree", [["name": .string("oak"), "height": .int(20)]])
                try scratch.insert("Flower", [["name": .string("rose"), "color": .string("red")]])
                check.equal(try scratch.fetch(ObjectRequest("Plant")).map(\.entity), ["Tree", "Flower"], "entities")
                check.equal(try scratch.fetch(ObjectRequest("Flower")).map { $0.values["color"] ?? .null }, [.string("red")], "color")
                check.equal(try scratch.aggregate("Tree", .count, nil), .int(1), "trees")
                let named = QueryPredicate.compare(.path("name"), .equal, .value(.string("rose")))
                check.equal(try scratch.fetch(ObjectRequest("Tree", where: named)).count, 0, "trees called rose")
            }
        },
        ConformanceCase("U001.unique-constraint", clause: "W14") { harness, check in
            try harness.withStore { scratch in
                let keys = try scratch.insert("Thing", [["code": .string("a")], ["code": .string("b")], [:], [:]])
                check.throwing(.uniqueConstraintViolated, "insert") { try scratch.insert("Thing", [["code": .string("a")]]) }
                check.throwing(.uniqueConstraintViolated, "update") { try scratch.update("Thing", keys[1], ["code": .string("a")]) }
                check.equal(try scratch.aggregate("Thing", .count, nil), .int(4), "count")
                try scratch.update("Thing", keys[0], ["code": .string("a")])
            }
        },
        ConformanceCase("U002.compound-unique-constraint", clause: "W14") { harness, check in
            try harness.withStore { scratch in
                try scratch.insert("Pair", [["first": .int(1), "second": .string("a")], ["first": .int(1), "second": .string("b")]])
                try scratch.insert("Pair", [["first": .int(1)], ["first": .int(1)], [:], [:]])
                check.throwing(.uniqueConstraintViolated, "both equal") {
                    try scratch.insert("Pair", [["first": .int(1), "second": .string("a")]])
                }
                check.throwing(.uniqueConstraintViolated, "bulk load") {
                    try scratch.load("Pair", [(900, ["first": .int(1), "second": .string("b")])])
                }
                check.equal(try scratch.aggregate("Pair", .count, nil), .int(6), "count")
            }
        },
        ConformanceCase("U003.unique-texts-are-compared-by-bytes", clause: "V3") { harness, check in
            try harness.withStore { scratch in
                try scratch.insert(
                    "Thing", [["code": .string("\u{e9}")], ["code": .string("e\u{301}")], ["code": .string("E")], ["code": .string("e")]])
                let long = String(repeating: "x", count: 1020)
                try scratch.insert("Thing", [["code": .string(long + "a")], ["code": .string(long + "b")]])
                check.throwing(.uniqueConstraintViolated, "long text") { try scratch.insert("Thing", [["code": .string(long + "b")]]) }
            }
        },
    ]

    private static func index(_ name: String, _ scratch: Scratch) throws -> Int {
        guard let link = scratch.schema.links.firstIndex(where: { $0.name == name }) else {
            throw StorageError(.notFound, "no link \(name)")
        }
        return link
    }

    private static func linksFact(_ scratch: Scratch, _ check: Check) throws {
        let name = scratch.schema.links.map(\.name).first { $0 == "Tag.things" || $0 == "Thing.tags" } ?? ""
        let link = try index(name, scratch)
        let added = [(1, 10), (1, 11), (2, 10), (1, 10)].map { LinkPair(owner: $0, member: $1) }
        try scratch.write { try $0.apply(ChangeSet(links: [LinkChanges(link: link, added: added)])) }
        check.equal(try scratch.links(name, .owner, [1]).map(\.member), [10, 11], "members of 1")
        check.equal(try scratch.links(name, .member, [10]).map(\.owner), [1, 2], "owners of 10")
        check.equal(try scratch.links(name, .member, [10, 11, 12]).count, 3, "pairs of three members")
        let removed = [LinkPair(owner: 1, member: 10), LinkPair(owner: 9, member: 9)]
        try scratch.write { try $0.apply(ChangeSet(links: [LinkChanges(link: link, removed: removed)])) }
        let remaining = [LinkPair(owner: 1, member: 11), LinkPair(owner: 2, member: 10)]
        check.equal(try scratch.links(name, .owner, nil), remaining, "remaining objects")
    }
}

internal import Foundation
internal import Polystore
internal import Synchronization

/// Cases of group S: the schema and the metadata in a store.
enum SchemaCases {
    static let all: [ConformanceCase] = opening + names + sizes

    private static func schemaCase(
        _ id: String, _ clause: String, needs: Set<StorageCapabilities.Capability> = [],
        _ body: @escaping @Sendable (StoreHarness, Check) throws -> Void
    ) -> ConformanceCase { ConformanceCase(id, clause: clause, needs: needs, body) }

    private static let opening: [ConformanceCase] = [
        schemaCase("S001.opening-again-changes-nothing", "S1", needs: [.persistent]) { harness, check in
            try harness.withStore { scratch in
                try Fixture.fill(scratch)
                let token = try scratch.token(), rows = try scratch.fetch(ObjectRequest("Thing"))
                try scratch.store.close()
                var states: [StorageState] = []
                for schema in [Fixture.schema, nil, Fixture.schema] {
                    let store = try scratch.another()
                    states.append(try store.open(OpenRequest(schema: schema)))
                    try store.close()
                }
                check.equal(Set(states.map(\.storeID)).count, 1, "identity")
                check.equal(states.map(\.wasCreated), [false, false, false], "was created")
                check.equal(Set(states.map(\.formatVersion)), [StoreMetadata.currentFormat], "format")
                check.equal(states.map(\.schema.hash), [Fixture.schema.hash, Fixture.schema.hash, Fixture.schema.hash], "hash")
                try scratch.open()
                check.equal(try scratch.token(), token, "token")
                check.equal(try scratch.fetch(ObjectRequest("Thing")), rows, "rows")
            }
        },
        schemaCase("S002.metadata-are-read-without-a-model", "S1", needs: [.persistent]) { harness, check in
            let schema = try Schema(
                version: "Seven",
                entities: [
                    Entity(
                        "Note", attributes: [Attribute("a", .int16, defaultValue: .int(3), originalName: "b")],
                        relationships: [Relationship("next", to: "Note", deleteRule: .cascade)], indexes: [Index(["a"])])
                ])
            try harness.withStore(schema) { scratch in
                try scratch.store.close()
                let store = try scratch.another()
                let state = try store.open(OpenRequest(schema: nil, createIfMissing: false, readOnly: true))
                defer { try? store.close() }
                check.equal(state.schema, schema, "schema")
                check.equal(state.schema.version, "Seven", "version")
                check.equal(state.schema.json, schema.json, "as text")
            }
        },
        schemaCase("S003.another-model-is-refused-by-its-first-difference", "S1", needs: [.persistent]) { harness, check in
            func schema(_ type: ValueType, _ version: String) throws -> Schema {
                try Schema(
                    version: version,
                    entities: [Entity("Note", attributes: [Attribute("a", .int64), Attribute("b", type, isOptional: true)])])
            }
            try harness.withStore(schema(.int64, "V1")) { scratch in
                try scratch.insert("Note", [["a": .int(1), "b": .int(2)]])
                try scratch.store.close()
                do {
                    _ = try scratch.another().open(OpenRequest(schema: try schema(.string, "V2")))
                    check.isTrue(false, "the other model is refused")
                } catch let error as StorageError {
                    check.equal(error.code, .schemaMismatch, "code")
                    for text in ["\"V1\"", "\"V2\"", "Note.b", "int64", "string"] {
                        check.isTrue(error.message.contains(text), "\(text) in \(error.message)")
                    }
                }
                try scratch.open()
                check.equal(try scratch.fetch(ObjectRequest("Note")).map(\.values), [["a": .int(1), "b": .int(2)]], "rows")
            }
        },
        schemaCase("S003.another-version-of-the-same-model-is-not-another-model", "S1", needs: [.persistent]) { harness, check in
            func schema(_ version: String, _ value: Int64) throws -> Schema {
                try Schema(version: version, entities: [Entity("Note", attributes: [Attribute("a", .int64, defaultValue: .int(value))])])
            }
            try harness.withStore(schema("V1", 1)) { scratch in
                try scratch.insert("Note", [["a": .int(5)]])
                try scratch.store.close()
                let store = try scratch.another(OpenRequest(schema: try schema("V2", 2)))
                check.equal(try Scratch(scratch, store).fetch(ObjectRequest("Note")).map(\.values), [["a": .int(5)]], "rows")
                try store.close()
            }
        },
        schemaCase("S011.opened-by-several-at-once-it-is-made-once", "S1", needs: [.persistent, .multipleProcesses]) { harness, check in
            try harness.withStore { scratch in
                try scratch.store.erase()
                let states = Mutex<[StorageState]>([]), errors = Mutex<[StorageError]>([])
                let stores = try (0..<4).map { _ in try scratch.another() }
                Threads.run(4) { index in
                    do throws(StorageError) {
                        let state = try stores[index].open(OpenRequest(schema: Fixture.schema))
                        states.withLock { $0.append(state) }
                    } catch {
                        // A process can open some stores only once.
                        if error.code != .alreadyExists { errors.withLock { $0.append(error) } }
                    }
                }
                check.equal(errors.withLock { $0.map(\.description) }, [], "errors")
                check.equal(states.withLock { Set($0.map(\.storeID)).count }, 1, "identities")
                check.equal(states.withLock { $0.count(where: \.wasCreated) }, 1, "made")
                for store in stores { try store.close() }
            }
        },
        schemaCase("S012.a-part-of-the-model-is-refused", "S1", needs: [.persistent]) { harness, check in
            let a = Entity("A", attributes: [Attribute("x", .int64)]), b = Entity("B", attributes: [Attribute("y", .int64)])
            try harness.withStore(Schema(entities: [a, b])) { scratch in
                try scratch.store.close()
                let part = try Schema(entities: [a]), whole = try Schema(entities: [a, b, Entity("C")])
                check.throwing(.schemaMismatch, "a part") { _ = try scratch.another().open(OpenRequest(schema: part)) }
                check.throwing(.schemaMismatch, "more than it has") { _ = try scratch.another().open(OpenRequest(schema: whole)) }
            }
        },
    ]

    // MARK: Names

    /// The words that engines of any kind reserve, or use for their own columns, tables and functions.
    private static let words = [
        "select", "order", "group", "user", "table", "from", "rowid", "oid", "ctid", "xmin", "xmax", "cmin", "tableoid", "_id", "_version",
        "_entity", "key", "value", "index", "primary", "unique", "where", "and", "or", "not", "null", "true", "false", "default", "limit",
        "offset", "desc", "union", "all", "case", "when", "end", "join", "on", "using", "values", "check", "collate", "cast", "begin",
        "commit", "rollback", "public", "information_schema", "pg_type", "sqlite_sequence", "count", "sum", "now", "current_user", "like",
        "in", "is", "between", "exists", "self", "id", "entity", "version", "data", "rank", "owner", "member", "_rank",
    ]

    /// Checks that rows of entities can be read, found, and changed, whatever the names are.
    private static func use(_ entities: [String], _ attributes: [String], _ harness: StoreHarness, _ check: Check) throws {
        let schema = try Schema(
            entities: entities.map { name in
                Entity(
                    name, attributes: attributes.map { Attribute($0, .string, isOptional: true) }, relationships: [],
                    indexes: attributes.prefix(4).map { Index([$0]) },
                    uniqueConstraints: attributes.last.map { [UniqueConstraint([$0])] } ?? [])
            })
        try harness.withStore(schema) { scratch in
            for entity in entities {
                let values = Dictionary(uniqueKeysWithValues: attributes.map { ($0, Value.string("\(entity).\($0)")) })
                let key = try scratch.insert(entity, [values, [:]])[0]
                check.equal(try scratch.rows(entity, keys: [key]).first?.values, values, "values of \(entity)")
                for name in attributes.prefix(2) + attributes.suffix(2) {
                    let wanted = QueryPredicate.compare(.path(PropertyPath(name)), .equal, .value(.string("\(entity).\(name)")))
                    check.equal(try scratch.keys(ObjectRequest(entity, where: wanted)), [key], "\(entity) where \(name)")
                }
                guard let last = attributes.last else { continue }
                check.throwing(.uniqueConstraintViolated, "\(entity).\(last)") {
                    try scratch.insert(entity, [[last: .string("\(entity).\(last)")]])
                }
                try scratch.update(entity, key, [last: .string("changed")])
                check.equal(try scratch.rows(entity, keys: [key]).first?.values[last], .string("changed"), "\(entity).\(last) changed")
            }
        }
    }

    private static let names: [ConformanceCase] = [
        schemaCase("S005.long-names-stay-distinct", "V6") { harness, check in
            // PostgreSQL truncates names to 63 bytes; names with two bytes for each letter are truncated in the middle of one.
            let lengths = [61, 62, 63, 64, 65, 200]
            let names = lengths.flatMap { [String(repeating: "n", count: $0 - 1) + "A", String(repeating: "n", count: $0 - 1) + "B"] }
            let wide = [31, 32, 100].flatMap { [String(repeating: "ä", count: $0) + "A", String(repeating: "ä", count: $0) + "B"] }
            try use(names + wide, names + wide, harness, check)
        },
        schemaCase("S006.words-that-engines-reserve", "V6") { harness, check in
            func works(_ name: String) -> Bool { (try? Schema(entities: [Entity(name, attributes: [Attribute(name, .int64)])])) != nil }
            let names = words.filter(works)
            check.equal(words.filter { !works($0) }, words.filter { $0.hasPrefix("_") }, "only what begins with an underscore is no name")
            try use(Array(names.prefix(40)), names, harness, check)
        },
        schemaCase("S007.signs-are-no-names", "V6") { _, check in
            let wrong = [
                "", " ", "a b", "a\"b", "a'b", "a`b", "[a]", "a%", "a:b", ":a", "a?", "$1", "a.b", "a;b", "--a", "a/*b", "\u{0}", "a\u{0}b",
                "1a",
                "😀", "a\u{200f}", "\u{202e}a", "a-b", "a\\b", "a\n", "SELF", "polystore_a",
            ]
            for name in wrong {
                for (place, entity) in [("entity", Entity(name)), ("attribute", Entity("A", attributes: [Attribute(name, .int64)]))] {
                    check.isTrue((try? Schema(entities: [entity])) == nil, "the \(place) \(name.debugDescription) is refused")
                }
            }
        },
        schemaCase("S008.names-that-differ-only-in-case", "V6") { harness, check in
            let names = ["name", "Name", "NAME", "nAME", "straße", "STRASSE", "Straße", "é", "É"]
            try use(names, names, harness, check)
        },
    ]

    // MARK: Sizes

    private static let sizes: [ConformanceCase] = [
        schemaCase("S009.many-entities", "S1") { harness, check in
            let count = IsolationCases.isThorough ? 1_000 : 150
            let schema = try Schema(
                entities: (0..<count).map { number in
                    Entity(
                        "E\(number)", attributes: [Attribute("a", .int64)],
                        relationships: [Relationship("next", to: "E\((number + 1) % count)", .toMany)], indexes: [Index(["a"])])
                })
            try harness.withStore(schema) { scratch in
                for number in [0, 1, count / 2, count - 1] { try scratch.insert("E\(number)", [["a": .int(Int64(number))]]) }
                try scratch.connect("E\(count - 1)", "next", [1: [1]])
                if harness.capabilities.contains(.persistent) { try scratch.reopen() }
                for number in [0, 1, count / 2, count - 1] {
                    let wanted = QueryPredicate.compare(.path("a"), .equal, .value(.int(Int64(number))))
                    check.equal(try scratch.keys(ObjectRequest("E\(number)", where: wanted)), [1], "E\(number)")
                }
                check.equal(try scratch.members("E\(count - 1)", "next"), [1: [1]], "pairs")
                check.equal(try scratch.keys(ObjectRequest("E2")), [], "E2")
            }
        },
        schemaCase("S009.many-attributes", "S1") { harness, check in
            let entity = Entity("Wide", attributes: (0..<500).map { Attribute("a\($0)", $0 % 2 == 0 ? .int64 : .string, isOptional: true) })
            try harness.withStore(Schema(entities: [entity])) { scratch in
                var values: [String: Value] = [:]
                for number in 0..<500 { values["a\(number)"] = number % 2 == 0 ? .int(Int64(number)) : .string("\(number)") }
                let key = try scratch.insert("Wide", [values])[0]
                try scratch.update("Wide", key, ["a0": .int(-1), "a499": .null])
                values["a0"] = .int(-1)
                values["a499"] = .null
                check.equal(try scratch.rows("Wide", keys: [key]).first?.values, values, "values")
            }
        },
    ]
}

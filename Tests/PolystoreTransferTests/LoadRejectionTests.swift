import Foundation
import PolystoreStorage
import PolystoreTransfer
import TestStores
import Testing

/// A record is rejected exactly if it would still be wrong, or depend on a rejected one, were all rejected records taken out of the files.
@Suite struct LoadRejectionTests {
    /// Files that are loaded after others, the lines that are rejected, and what the store contains then.
    struct Example: Sendable, CustomTestStringConvertible {
        let testDescription: String
        /// The records that the store has before.
        var stored: [File] = []
        let files: [File]
        /// The lines that are rejected, of each file.
        let rejected: [[Int]]
        /// The objects of each entity: their attributes in the order of the model, then those that they refer to.
        let contents: [String: [String]]
    }

    /// Records of one entity, and the attributes by which their relationships and objects are found.
    struct File: Sendable {
        let entity: String
        var references: [String: String] = [:]
        var on: String?
        let records: [String]
    }

    private static let schema = Result {
        try Schema(entities: [
            Entity(
                "A",
                attributes: [
                    Attribute("id", .int64), Attribute("code", .string, isOptional: true), Attribute("name", .string, isOptional: true),
                ],
                relationships: [
                    Relationship("parent", to: "A"), Relationship("door", to: "D", inverse: "owner"),
                    Relationship("buddy", to: "A", inverse: "buddy"),
                ], uniqueConstraints: [UniqueConstraint(["id"]), UniqueConstraint(["code"])]),
            Entity("B", attributes: [Attribute("x", .int64)], relationships: [Relationship("a", to: "A", isOptional: false)]),
            Entity(
                "R",
                attributes: [
                    Attribute("id", .int64), Attribute("code", .string, isOptional: true), Attribute("name", .string, isOptional: true),
                ],
                relationships: [Relationship("parent", to: "R", isOptional: false), Relationship("door", to: "D", inverse: "holder")],
                uniqueConstraints: [UniqueConstraint(["id"]), UniqueConstraint(["code"])]),
            Entity(
                "D", attributes: [Attribute("n", .string)],
                relationships: [Relationship("owner", to: "A", inverse: "door"), Relationship("holder", to: "R", inverse: "door")]),
            Entity(
                "E", attributes: [Attribute("n", .string)],
                relationships: [Relationship("key", to: "K", isOptional: false, inverse: "door")]),
            Entity(
                "K", attributes: [Attribute("n", .string), Attribute("i", .int64)],
                relationships: [Relationship("door", to: "E", inverse: "key")]),
        ])
    }

    private static let references: [String: [String: String]] = [
        "A": ["parent": "id", "door": "n", "buddy": "id"], "B": ["a": "id"], "R": ["parent": "id", "door": "n"], "D": [:], "E": [:],
        "K": ["door": "n"],
    ]

    private static func a(_ records: String...) -> File { File(entity: "A", records: records) }
    private static func onA(_ records: String...) -> File { File(entity: "A", on: "id", records: records) }
    private static func b(by name: String, _ records: String...) -> File { File(entity: "B", references: ["a": name], records: records) }
    private static func r(_ records: String...) -> File { File(entity: "R", records: records) }
    private static func onR(_ records: String...) -> File { File(entity: "R", on: "id", records: records) }
    private static let others = (0..<1_100).map { "{\"id\": \($0 + 100)}" }

    static let examples = [
        Example(
            testDescription: "a value of a stored object that is updated otherwise", stored: [a(#"{"id":8,"code":"X"}"#)],
            files: [onA(#"{"id":8}"#, #"{"id":3,"code":"X"}"#)], rejected: [[2]], contents: ["A": ["8 X"]]),
        Example(
            testDescription: "an object that has its value again",
            files: [onA(#"{"id":1,"code":"X"}"#, #"{"id":2,"code":"X"}"#, #"{"id":1,"code":"X","name":"t"}"#)], rejected: [[2]],
            contents: ["A": ["1 X t"]]),
        Example(
            testDescription: "a value that is given up, beside a duplicate",
            stored: [a(#"{"id":1}"#, #"{"id":2}"#, #"{"id":3}"#, #"{"id":4}"#)],
            files: [
                onA(
                    #"{"id":1,"code":"X"}"#, #"{"id":2,"code":"X"}"#, #"{"id":1,"code":"Y"}"#, #"{"id":3,"code":"W"}"#,
                    #"{"id":4,"code":"W"}"#)
            ], rejected: [[5]], contents: ["A": ["1 Y", "2 X", "3 W", "4"]]),
        Example(
            testDescription: "a new object that gives up its value",
            files: [onA(#"{"id":5,"code":"X"}"#, #"{"id":5,"code":"Y"}"#, #"{"id":4,"code":"X"}"#)], rejected: [[]],
            contents: ["A": ["4 X", "5 Y"]]),
        Example(
            testDescription: "a new object that gives up its value far from it",
            files: [
                File(
                    entity: "A", on: "id",
                    records: [#"{"id":5,"code":"X"}"#, #"{"id":5,"code":"Y"}"#] + others + [#"{"id":4,"code":"X"}"#])
            ], rejected: [[]], contents: ["A": ["4 X", "5 Y"]]),
        Example(
            testDescription: "a new object that gives up its door", stored: [File(entity: "D", records: [#"{"n":"a"}"#, #"{"n":"b"}"#])],
            files: [onA(#"{"id":5,"door":"a"}"#, #"{"id":5,"door":"b"}"#, #"{"id":4,"door":"a"}"#)], rejected: [[]],
            contents: ["A": ["4 door a", "5 door b"]]),
        Example(
            testDescription: "values that move far apart, loaded again",
            stored: [
                File(
                    entity: "A", on: "id",
                    records: [#"{"id":1,"code":"X"}"#] + others + [#"{"id":2,"code":"X"}"#, #"{"id":1,"code":"Y"}"#])
            ],
            files: [
                File(
                    entity: "A", on: "id",
                    records: [#"{"id":1,"code":"X"}"#] + others + [#"{"id":2,"code":"X"}"#, #"{"id":1,"code":"Y"}"#])
            ], rejected: [[]], contents: ["A": ["1 Y", "2 X"]]),
        Example(
            testDescription: "a required one-to-one relationship that a rejected record would fill",
            files: [
                File(entity: "E", records: [#"{"n":"a"}"#, #"{"n":"b"}"#]),
                File(entity: "K", records: [#"{"n":"1","i":1,"door":"a"}"#, #"{"n":"2","i":"x","door":"b"}"#]),
            ], rejected: [[2], [2]], contents: ["E": ["a"], "K": ["1 1 door a"]]),
        Example(
            testDescription: "a ring of one-to-one references", stored: [onA(#"{"id":3,"buddy":4}"#, #"{"id":4}"#, #"{"id":5}"#)],
            files: [onA(#"{"id":4,"buddy":5}"#, #"{"id":5,"buddy":3}"#)], rejected: [[2]],
            contents: ["A": ["3", "4 buddy 5", "5 buddy 4"]]),
        Example(
            testDescription: "a duplicate that makes a reference ambiguous",
            files: [b(by: "code", #"{"x":0,"a":"W"}"#), onA(#"{"id":1,"code":"W"}"#, #"{"id":3,"code":"W"}"#)], rejected: [[], [2]],
            contents: ["A": ["1 W"], "B": ["0 a 1"]]),
        Example(
            testDescription: "a duplicate of a duplicate",
            files: [a(#"{"id":9,"code":"Y"}"#, #"{"id":1,"code":"Y"}"#, #"{"id":1}"#), b(by: "id", #"{"x":0,"a":1}"#)],
            rejected: [[2], []], contents: ["A": ["1", "9 Y"], "B": ["0 a 1"]]),
        Example(
            testDescription: "two updates that need each other, and a third one",
            stored: [
                File(entity: "D", records: [#"{"n":"a"}"#, #"{"n":"c"}"#]), a(#"{"id":8,"code":"X","door":"a"}"#, #"{"id":9,"code":"Y"}"#),
            ],
            files: [
                onA(#"{"id":3,"door":"a"}"#, #"{"id":8,"code":"Y","door":"c"}"#, #"{"id":9,"code":"Z","door":"a"}"#),
                b(by: "id", #"{"x":1,"a":3}"#),
            ], rejected: [[1], [1]], contents: ["A": ["8 Y door c", "9 Z door a"], "B": []]),
        Example(
            testDescription: "a record that refers to itself by a name that others have",
            stored: [r(#"{"id":8,"name":"n1","parent":8}"#)],
            files: [
                File(
                    entity: "R", references: ["parent": "name"],
                    records: [
                        #"{"id":3,"name":"n3","parent":"n2"}"#, #"{"id":4,"name":"n3","parent":"n3"}"#,
                        #"{"id":3,"name":"n1","parent":"n1"}"#,
                        #"{"id":9,"name":"n2","parent":"n3"}"#,
                    ])
            ], rejected: [[1, 3]], contents: ["R": ["4 n3 parent 4", "8 n1 parent 8", "9 n2 parent 4"]]),
        Example(
            testDescription: "a door of a duplicate", stored: [File(entity: "D", records: [#"{"n":"a"}"#]), a(#"{"id":0}"#)],
            files: [onA(#"{"id":5,"code":"K"}"#, #"{"id":6,"code":"K","door":"a"}"#, #"{"id":0,"door":"a"}"#)], rejected: [[2]],
            contents: ["A": ["0 door a", "5 K"]]),
        Example(
            testDescription: "a door that its owner keeps",
            stored: [File(entity: "D", records: [#"{"n":"a"}"#]), a(#"{"id":8,"door":"a"}"#)],
            files: [onA(#"{"id":8,"door":"a"}"#, #"{"id":2,"door":"a"}"#, #"{"id":4,"door":"a"}"#)], rejected: [[2, 3]],
            contents: ["A": ["8 door a"]]),
        Example(
            testDescription: "a required parent that takes a door",
            stored: [File(entity: "D", records: [#"{"n":"b"}"#]), r(#"{"id":8,"parent":8}"#)],
            files: [r(#"{"id":9,"parent":1,"door":"b"}"#, #"{"id":1,"parent":8,"door":"b"}"#)], rejected: [[1]],
            contents: ["R": ["1 parent 8 door b", "8 parent 8"]]),
        Example(
            testDescription: "a name that a rejected update would change",
            stored: [a(#"{"id":8,"name":"n1"}"#, #"{"id":7,"code":"X"}"#)],
            files: [b(by: "name", #"{"x":0,"a":"n1"}"#), onA(#"{"id":8,"name":"n3","code":"X"}"#)], rejected: [[], [1]],
            contents: ["A": ["7 X", "8 n1"], "B": ["0 a 8"]]),
        Example(
            testDescription: "a duplicate of a rejected record",
            files: [
                b(by: "name", #"{"x":0,"a":"x"}"#), b(by: "code"),
                r(#"{"id":1,"code":"k","parent":9}"#, #"{"id":2,"code":"k","parent":2}"#),
                a(#"{"id":1,"name":"x"}"#),
            ], rejected: [[], [], [1], []], contents: ["R": ["2 k parent 2"], "B": ["0 a 1"]]),
        Example(
            testDescription: "an identity that a rejected record would make ambiguous",
            files: [
                r(#"{"id":1,"name":"x","parent":1}"#, #"{"id":2,"name":"x","parent":9}"#),
                File(entity: "R", on: "name", records: [#"{"name":"x","code":"new"}"#]),
            ], rejected: [[2], []], contents: ["R": ["1 new x parent 1"]]),
        Example(
            testDescription: "a stored value that an update gives up",
            stored: [File(entity: "D", records: [#"{"n":"a"}"#]), a(#"{"id":8,"code":"X"}"#, #"{"id":9,"code":"Y"}"#)],
            files: [onA(#"{"id":2,"code":"Y","door":"a"}"#, #"{"id":8,"code":"Z","door":"a"}"#, #"{"id":3,"code":"X"}"#)],
            rejected: [[1]], contents: ["A": ["3 X", "8 Z door a", "9 Y"]]),
        Example(
            testDescription: "a record that updates a new object",
            stored: [File(entity: "D", records: [#"{"n":"a"}"#]), r(#"{"id":9,"code":"Y","parent":9}"#)],
            files: [
                onR(#"{"id":2,"code":"Y","parent":2,"door":"a"}"#, #"{"id":1,"parent":1,"door":"a"}"#, #"{"id":1,"name":"t"}"#)
            ], rejected: [[1]], contents: ["R": ["1 t parent 1 door a", "9 Y parent 9"]]),
    ]

    /// Loads records, and returns the lines of the rejected ones.
    private func load(_ files: [File], _ store: OpenStore, _ rejects: LoadRejects?) throws -> [[Int]] {
        let mapped = files.enumerated().map { index, item in
            var file = LoadMapping.file("\(index).ndjson", entity: item.entity)
            let found = (Self.references[item.entity] ?? [:]).merging(item.references) { $1 }
            file.relationships = Dictionary(uniqueKeysWithValues: found.map { ($0, [$1: $0]) })
            file.on = item.on.map { [$0] }
            return file
        }
        _ = try FileLoader.load(LoadMapping(files: mapped), into: store, rejects: rejects) { name in
            FileBlocks(Data(files[Int(name.prefix { $0 != "." }) ?? 0].records.joined(separator: "\n").utf8))
        }
        return files.indices.map { rejects?.records(ofFile: $0).map(\.line) ?? [] }
    }

    /// The objects of an entity, without those that are there only to be between others.
    private func contents(_ entity: String, _ store: OpenStore) throws -> [String] {
        let reader = try store.beginRead()
        defer { reader.end() }
        let attributes = try #require(try Self.schema.get().entities.first { $0.name == entity }).attributes.map(\.name)
        let names = ["parent", "door", "buddy", "a"].filter { Self.references[entity]?[$0] != nil }
        let paths = attributes.map { PropertyPath([$0]) } + names.map { PropertyPath([$0, $0 == "door" ? "n" : "id"]) }
        let request = QueryRequest(ObjectRequest(entity), outputs: paths.map { QueryOutput(.path($0)) })
        return try reader.values(for: request.plan(in: store.schema)).compactMap { row in
            if case .int(let id) = row[0], id >= 100 { return nil }
            let texts = row.enumerated().compactMap { index, value -> String? in
                let text: String
                switch value {
                case .int(let number): text = "\(number)"
                case .string(let string): text = string
                default: return nil
                }
                return index < attributes.count ? text : "\(names[index - attributes.count]) \(text)"
            }
            return texts.joined(separator: " ")
        }.sorted()
    }

    @Test(arguments: TestStore.all, examples) func recordsAreRejectedByTheRule(_ kind: TestStore, _ example: Example) throws {
        let store = try OpenStore(opening: kind.make(), OpenRequest(schema: Self.schema.get()))
        defer { try? store.erase() }
        for file in example.stored { _ = try load([file], store, nil) }
        #expect(try load(example.files, store, LoadRejects()) == example.rejected)
        for (entity, expected) in example.contents { #expect(try contents(entity, store) == expected) }
        var findings: [String] = []
        try TransferEngine().check(store) { findings.append($0.description) }
        #expect(findings.isEmpty, "\(findings)")
    }

    /// The records of a load that rejects none of them can be loaded again without a list.
    @Test(arguments: TestStore.all) func loadingAgainChangesNothing(_ kind: TestStore) throws {
        let store = try OpenStore(opening: kind.make(), OpenRequest(schema: Self.schema.get()))
        defer { try? store.erase() }
        let records = [#"{"id":1,"code":"X"}"#] + Self.others + [#"{"id":2,"code":"X"}"#, #"{"id":1,"code":"Y"}"#]
        for _ in 0..<2 {
            _ = try load([File(entity: "A", on: "id", records: records)], store, nil)
            #expect(try contents("A", store) == ["1 Y", "2 X"])
        }
    }

    /// Each record needs the one before it, and the first one needs one that is missing.
    @Test func aChainOfRequiredReferencesIsRejectedInOnePass() throws {
        let store = try OpenStore(opening: TestStore.memory.make(), OpenRequest(schema: Self.schema.get()))
        var file = LoadMapping.file("r.ndjson", entity: "R"), reads = 0
        file.relationships = ["parent": ["id": "parent"]]
        let text = (1...400).map { "{\"id\": \($0), \"parent\": \($0 - 1)}\n" }.joined() + "{\"id\": 401, \"parent\": 401}\n"
        let rejects = LoadRejects()
        _ = try FileLoader.load(LoadMapping(files: [file]), into: store, rejects: rejects) { _ in
            reads += 1
            return FileBlocks(Data(text.utf8))
        }
        #expect(rejects.records(ofFile: 0).map(\.line) == Array(1...400))
        #expect(try contents("R", store) == [] && reads < 12)
        #expect(rejects.records(ofFile: 0).last?.reason.contains("no object of R has these values") == true)
    }

    /// As a transfer writes records of rows that it has left out.
    @Test func aKeyOfARejectedRecordIsFree() throws {
        let store = try OpenStore(opening: TestStore.memory.make(), OpenRequest(schema: Self.schema.get()))
        let text = """
            {"polystore_entity": "R", "polystore_key": 7, "id": 1, "parent": 9}
            {"polystore_entity": "R", "polystore_key": 7, "id": 2, "parent": 7}
            {"polystore_entity": "R", "polystore_key": 7, "id": 3, "parent": 7}
            """
        let mapping = try #require(try LoadMapping(objectsIn: FileBlocks(Data(text.utf8)), "r.ndjson")), rejects = LoadRejects()
        _ = try FileLoader.load(mapping, into: store, rejects: rejects) { _ in FileBlocks(Data(text.utf8)) }
        #expect(rejects.records(ofFile: 0).map(\.line) == [1, 3])
        #expect(try contents("R", store) == ["2 parent 2"])
        #expect(rejects.records(ofFile: 0).last?.reason.contains("an earlier record is an object of R with this key") == true)
    }

    /// An update takes the key of an object that must have one.
    @Test func aRecordThatLeavesARequiredReferenceNilIsRejected() throws {
        let store = try OpenStore(opening: TestStore.memory.make(), OpenRequest(schema: Self.schema.get()))
        let stored = [
            File(entity: "E", records: [#"{"n":"a"}"#, #"{"n":"b"}"#]),
            File(entity: "K", records: [#"{"n":"1","i":1,"door":"a"}"#, #"{"n":"2","i":2,"door":"b"}"#]),
        ]
        _ = try load(stored, store, nil)
        let update = File(entity: "K", on: "n", records: [#"{"n":"1","i":3}"#, #"{"n":"2","door":null}"#])
        let rejects = LoadRejects()
        #expect(try load([update], store, rejects) == [[2]])
        #expect(try contents("K", store) == ["1 3 door a", "2 2 door b"])
        #expect(rejects.records(ofFile: 0).map(\.reason) == ["0.ndjson, line 2: E.key is required but nil"])
    }

    /// The first member is rejected, so the second one, which has the same code, is the one that the group must have.
    @Test func numbersOfMembersAreCheckedInTheEnd() throws {
        let schema = try Schema(entities: [
            Entity(
                "Group", attributes: [Attribute("n", .int64)],
                relationships: [Relationship("members", to: "Member", .toMany, inverse: "group", minCount: 1)]),
            Entity(
                "Member", attributes: [Attribute("code", .string)],
                relationships: [
                    Relationship("group", to: "Group", isOptional: false, inverse: "members"),
                    Relationship("leader", to: "Member", isOptional: false),
                ], uniqueConstraints: [UniqueConstraint(["code"])]),
        ])
        let store = try OpenStore(opening: TestStore.memory.make(), OpenRequest(schema: schema))
        var members = LoadMapping.file("members", entity: "Member")
        members.relationships = ["group": ["n": "group"], "leader": ["code": "leader"]]
        let texts = ["groups": "n\n1\n", "members": "code,group,leader\na,1,b\na,1,a\n"], rejects = LoadRejects()
        _ = try FileLoader.load(LoadMapping(files: [LoadMapping.file("groups", entity: "Group"), members]), into: store, rejects: rejects) {
            FileBlocks(Data((texts[$0] ?? "").utf8))
        }
        #expect(rejects.records(ofFile: 0).isEmpty && rejects.records(ofFile: 1).map(\.line) == [2])
    }

    /// The second record is a duplicate only of the first one, which is rejected.
    @Test func onlyTheRecordsThatAreRejectedInTheEndAreCounted() throws {
        let store = try OpenStore(opening: TestStore.memory.make(), OpenRequest(schema: Self.schema.get()))
        let file = Self.r(#"{"id":1,"parent":9}"#, #"{"id":1,"parent":1}"#)
        #expect(try load([file], store, LoadRejects(most: 1)) == [[1]])
    }
}

import Foundation
import PolystoreStorage
import PolystoreTransfer
import TestStores
import Testing

/// Files whose records update the objects that some of their attributes identify.
@Suite struct UpdatingLoadTests {
    /// Players with one relationship of each kind to their teams.
    private static let schema = Result {
        try Schema(entities: [
            Entity(
                "Team", attributes: [Attribute("name", .string), Attribute("city", .string, isOptional: true)],
                relationships: [
                    Relationship("members", to: "Player", .toMany, inverse: "team"),
                    Relationship("list", to: "Player", .toManyOrdered, inverse: "lineup"),
                    Relationship("captain", to: "Player", .toOne, inverse: "captainOf"),
                ]),
            Entity(
                "Player",
                attributes: [
                    Attribute("code", .int64), Attribute("name", .string), Attribute("points", .int64, isOptional: true),
                    Attribute("grade", .string, isOptional: true, defaultValue: .string("C")),
                ],
                relationships: [
                    Relationship("team", to: "Team", .toOne, inverse: "members"),
                    Relationship("lineup", to: "Team", .toOne, inverse: "list"),
                    Relationship("captainOf", to: "Team", .toOne, inverse: "captain"),
                ], uniqueConstraints: [UniqueConstraint(["code"])]),
            Entity("Keeper", parent: "Player", attributes: [Attribute("gloves", .int64, isOptional: true)]),
        ])
    }

    private let mapping = #"[{"file": "p.csv", "entity": "Player", "on": ["code"]}]"#
    private let relating = #"""
        [{"file": "p.csv", "entity": "Player", "on": ["code"],
          "relationships": {"team": {"name": "team"}, "lineup": {"name": "lineup"}, "captainOf": {"name": "captain"}}}]
        """#

    /// Loads two teams, two players of the first and a keeper.
    private func files(_ kind: TestStore) throws -> Files {
        let files = try Files(Self.schema.get(), kind)
        try files.load(
            #"""
            [{"file": "t.csv", "entity": "Team"},
             {"file": "p.csv", "entity": "Player",
              "relationships": {"team": {"name": "team"}, "lineup": {"name": "team"}, "captainOf": {"name": "captain"}}},
             {"file": "k.csv", "entity": "Keeper"}]
            """#,
            [
                "t.csv": "name,city\nRed,Rome\nBlue,\n", "p.csv": "code,name,points,team,captain\n1,Ann,5,Red,Red\n2,Bob,,Red,\n",
                "k.csv": "code,name,gloves\n9,Kim,3\n",
            ])
        return files
    }

    private func loaded(_ report: LoadReport) -> [[Int]] { report.loaded.map { [$0.count, $0.updated, $0.unchanged] } }

    private func isWhole(_ files: Files) throws -> Bool {
        var findings: [CheckFinding] = []
        try TransferEngine().check(files.store) { findings.append($0) }
        return findings.isEmpty
    }

    private func texts(_ files: Files, _ name: String) throws -> [String] {
        try files.values("Player", name).map { JSONWriter.write(ValueText.json($0)) }
    }

    private func versions(_ files: Files) throws -> [Int64] {
        let reader = try files.store.beginRead()
        defer { reader.end() }
        let cursor = try reader.cursor(for: ObjectRequest("Player").plan(in: files.store.schema)), batch = RowBatch()
        var versions: [Int64] = []
        while try cursor.next(into: batch) { for index in 0..<batch.count { versions.append(batch.row(index).version) } }
        return versions
    }

    @Test(arguments: TestStore.all) func knownObjectsGetTheValuesOfTheirRecords(_ kind: TestStore) throws {
        let files = try files(kind)
        defer { files.close() }
        let file = "code,name,points\n2,Bo,7\n3,Cid,\n1,Ann,5\n"
        #expect(try loaded(files.load(mapping, ["p.csv": file])) == [[1, 1, 1]])
        #expect(try texts(files, "name") == [#""Ann""#, #""Bo""#, #""Kim""#, #""Cid""#])
        #expect(try texts(files, "points") == ["5", "7", "null", "null"])
        #expect(try versions(files) == [1, 2, 1, 1])
        #expect(try loaded(files.load(mapping, ["p.csv": file])) == [[0, 0, 3]])
        #expect(try versions(files) == [1, 2, 1, 1])
        #expect(try isWhole(files))
    }

    /// What a record does not have stays; an empty field is nil.
    @Test(arguments: TestStore.all) func onlyColumnsOfTheFileAreAssigned(_ kind: TestStore) throws {
        let files = try files(kind)
        defer { files.close() }
        #expect(try loaded(files.load(mapping, ["p.csv": "code,points\n1,\n2,4\n"])) == [[0, 2, 0]])
        #expect(try texts(files, "name") == [#""Ann""#, #""Bob""#, #""Kim""#])
        #expect(try texts(files, "points") == ["null", "4", "null"])
        #expect(
            try loaded(files.load(mapping.replacing("p.csv", with: "p.ndjson"), ["p.ndjson": #"{"code":2,"name":"Bea"}"# + "\n"]))
                == [[0, 1, 0]])
        #expect(try texts(files, "points") == ["null", "4", "null"])
        #expect(
            files.message(mapping, ["p.csv": "code,points\n1,1\n7,1\n"])
                == #"p.csv, line 3, column "name": the attribute is required, but the column is nil"#)
        #expect(try texts(files, "points") == ["null", "4", "null"], "nothing was loaded")
    }

    @Test(arguments: TestStore.all) func theSecondRecordOfANewObjectUpdatesIt(_ kind: TestStore) throws {
        let files = try files(kind)
        defer { files.close() }
        #expect(
            try loaded(files.load(mapping, ["p.csv": "code,name,points\n5,Eve,1\n5,Eva,2\n5,Eva,3\n1,Ann,6\n1,Ann,7\n"])) == [[1, 4, 0]])
        #expect(try texts(files, "name") == [#""Ann""#, #""Bob""#, #""Kim""#, #""Eva""#])
        #expect(try texts(files, "points") == ["7", "null", "null", "3"])
    }

    @Test(arguments: TestStore.all) func objectsOfSubEntitiesAreUpdatedToo(_ kind: TestStore) throws {
        let files = try files(kind)
        defer { files.close() }
        #expect(try loaded(files.load(mapping, ["p.csv": "code,name\n9,Kit\n"])) == [[0, 1, 0]])
        #expect(try files.values("Keeper", "name") == [.string("Kit")])
        #expect(try files.values("Keeper", "gloves") == [.int(3)])
        // A keeper of this code would be another object.
        #expect(
            files.message(mapping.replacing("Player", with: "Keeper"), ["p.csv": "code,name\n1,Ann\n"]).contains("an object of the store"))
    }

    @Test(arguments: TestStore.all) func referencesMoveAtBothEnds(_ kind: TestStore) throws {
        let files = try files(kind)
        defer { files.close() }
        #expect(try isWhole(files))
        let moved = "code,team,lineup,captain\n1,Blue,Blue,Blue\n2,Blue,Blue,Red\n"
        #expect(try loaded(files.load(relating, ["p.csv": moved])) == [[0, 2, 0]])
        #expect(try isWhole(files))
        func teams(_ name: String) throws -> [Value] { try files.values("Player", name) }
        #expect(try teams("team") == [.int(2), .int(2), .null])
        #expect(try teams("lineup") == [.int(2), .int(2), .null])
        #expect(try teams("captainOf") == [.int(2), .int(1), .null])
        #expect(try files.values("Team", "captain") == [.int(2), .int(1)])
        #expect(try files.links().map { [$0.owner, $0.member] } == [[2, 1], [2, 2]])
        // A nil takes the reference away, an unresolved one leaves it.
        let report = try files.load(relating, ["p.csv": "code,team,lineup,captain\n1,,,\n2,Green,Green,Green\n"])
        #expect(loaded(report) == [[0, 1, 1]])
        #expect(report.dangling.map(\.unresolved) == [1, 1, 1])
        #expect(try isWhole(files))
        #expect(try teams("team") == [.null, .int(2), .null])
        #expect(try teams("captainOf") == [.null, .int(1), .null])
        #expect(try files.values("Team", "captain") == [.int(2), .null])
        #expect(try files.links().map { [$0.owner, $0.member] } == [[2, 2]])
        #expect(
            files.message(relating, ["p.csv": "code,team,lineup,captain\n1,,,Red\n"])
                == "p.csv, line 2: Team.captain of object 1, to which the record refers, already refers to another object; nothing was loaded"
        )
    }

    /// Both captains change places within one file.
    @Test(arguments: TestStore.all) func partnersAreExchanged(_ kind: TestStore) throws {
        let files = try files(kind)
        defer { files.close() }
        try files.load(relating, ["p.csv": "code,team,lineup,captain\n1,Red,Red,Red\n2,Red,Red,Blue\n"])
        #expect(try files.values("Team", "captain") == [.int(1), .int(2)])
        #expect(try loaded(files.load(relating, ["p.csv": "code,team,lineup,captain\n1,Red,Red,Blue\n2,Red,Red,Red\n"])) == [[0, 2, 0]])
        #expect(try files.values("Team", "captain") == [.int(2), .int(1)])
        #expect(try files.values("Player", "captainOf") == [.int(2), .int(1), .null])
        #expect(try isWhole(files))
    }

    /// References of other files find objects by the values that they get in this load.
    @Test(arguments: TestStore.all) func otherFilesReferToTheNewValues(_ kind: TestStore) throws {
        let files = try files(kind)
        defer { files.close() }
        let both = #"""
            [{"file": "t.csv", "entity": "Team", "on": ["city"]},
             {"file": "p.csv", "entity": "Player", "on": ["code"], "relationships": {"team": {"name": "team"}}}]
            """#
        let report = try files.load(
            both, ["t.csv": "city,name\nRome,Green\nOslo,White\n", "p.csv": "code,name,team\n1,Ann,Green\n4,Dan,White\n"])
        #expect(loaded(report) == [[1, 1, 0], [1, 0, 1]])
        #expect(try files.values("Team", "name") == ["Green", "Blue", "White"].map(Value.string))
        #expect(try files.values("Player", "name", where: "team.name == 'Green'") == ["Ann", "Bob"].map(Value.string))
        #expect(try files.values("Player", "name", where: "team.name == 'White'") == [.string("Dan")])
        let gone = try files.load(both, ["t.csv": "city,name\nRome,Red\n", "p.csv": "code,name,team\n4,Dan,Green\n"])
        #expect(gone.dangling.map(\.unresolved) == [1], "the former name")
        #expect(try isWhole(files))
    }

    @Test(arguments: TestStore.all) func whatIdentifiesNoSingleObjectIsRefused(_ kind: TestStore) throws {
        let files = try files(kind)
        defer { files.close() }
        func message(_ attribute: String, _ file: String) -> String {
            files.message(mapping.replacing("code", with: attribute), ["p.csv": file])
        }
        #expect(
            message("points", "code,name,points\n1,Ann,\n")
                == #"p.csv, line 2, column "points": the attribute identifies the object, but the column is nil"#)
        #expect(
            message("grade", "code,name,grade\n1,Ann,C\n")
                == #"p.csv, line 2, column "grade": several objects of Player have these values of grade"#)
        #expect(message("cod", "code,name\n1,Ann\n") == #"p.csv: Player has no attribute "cod"; did you mean "code"?"#)
        #expect(message("code", "name\nAnn\n") == #"p.csv: there is no column "code" for Player.code"#)
    }

    @Test func manyRecordsAreUpdatedInBlocks() throws {
        let files = try files(.sqlite)
        defer { files.close() }
        let all = "code,name,points\n" + (100..<6100).map { "\($0),P\($0),1\n" }.joined()
        #expect(try loaded(files.load(mapping, ["p.csv": all])) == [[6000, 0, 0]])
        let some = "code,name,points\n" + (0..<6000).map { "\(100 + $0 * 7 % 8000),Q,\($0 % 2)\n" }.joined()
        let known = Set((0..<6000).map { 100 + $0 * 7 % 8000 }.filter { $0 < 6100 })
        #expect(try loaded(files.load(mapping, ["p.csv": some])) == [[6000 - known.count, known.count, 0]])
        #expect(try files.values("Player", "name", where: "name == 'Q'").count == 6000)
    }

    /// An attribute without a value identifies nothing, whatever its default is.
    @Test(arguments: TestStore.all) func aDefaultIdentifiesNothing(_ kind: TestStore) throws {
        let files = try files(kind)
        defer { files.close() }
        let grades = #"[{"file": "p.ndjson", "entity": "Player", "on": ["grade"]}]"#
        for record in [#"{"code": 1, "name": "Ann"}"#, #"{"code": 1, "name": "Ann", "grade": null}"#] {
            #expect(
                files.message(grades, ["p.ndjson": record])
                    == #"p.ndjson, line 1, column "grade": the attribute identifies the object, but the column is nil"#)
        }
    }

    /// Objects are found by the values that they have after each record, also by those that were nil before.
    @Test(arguments: TestStore.all) func objectsAreFoundByValuesThatWereNil(_ kind: TestStore) throws {
        let files = try files(kind)
        defer { files.close() }
        let both = #"""
            [{"file": "t.csv", "entity": "Team", "on": ["name"]},
             {"file": "p.csv", "entity": "Player", "on": ["code"], "relationships": {"team": {"name": "team", "city": "city"}}}]
            """#
        let report = try files.load(both, ["t.csv": "name,city\nBlue,Oslo\n", "p.csv": "code,name,team,city\n2,Bob,Blue,Oslo\n"])
        #expect(report.dangling.map(\.unresolved) == [0])
        #expect(try files.values("Player", "name", where: "team.name == 'Blue'") == [.string("Bob")])
        let keepers = #"""
            [{"file": "p.csv", "entity": "Player", "on": ["code"]}, {"file": "k.csv", "entity": "Keeper", "on": ["points"]}]
            """#
        #expect(
            try loaded(files.load(keepers, ["p.csv": "code,points\n9,77\n", "k.csv": "points,name\n77,Kit\n"])) == [[0, 1, 0], [0, 1, 0]])
        #expect(try files.values("Keeper", "name") == [.string("Kit")])
        // The second record of a new object has only what it changes.
        let teams = #"""
            [{"file": "t.ndjson", "entity": "Team", "on": ["name"]},
             {"file": "p.csv", "entity": "Player", "on": ["code"], "relationships": {"team": {"name": "team", "city": "city"}}}]
            """#
        let records = [#"{"name": "New", "city": null}"#, #"{"name": "New", "city": "Bern"}"#].joined(separator: "\n")
        #expect(try files.load(teams, ["t.ndjson": records, "p.csv": "code,team,city\n1,New,Bern\n"]).dangling.map(\.unresolved) == [0])
        #expect(try isWhole(files))
    }

    /// What an update sets free can be taken, by another update and by a new object, and by the first that is named.
    @Test(arguments: TestStore.all) func uniqueValuesMoveBetweenObjects(_ kind: TestStore) throws {
        let schema = try Schema(entities: [
            Entity(
                "Item", attributes: [Attribute("id", .int64), Attribute("nick", .string, isOptional: true)],
                uniqueConstraints: [UniqueConstraint(["nick"])])
        ])
        let files = try Files(schema, kind), items = #"[{"file": "i.csv", "entity": "Item", "on": ["id"]}]"#
        defer { files.close() }
        try files.load(items, ["i.csv": "id,nick\n1,a\n2,b\n3,c\n"])
        #expect(try loaded(files.load(items, ["i.csv": "id,nick\n1,b\n2,a\n3,z\n9,c\n3,y\n"])) == [[1, 4, 0]])
        #expect(try files.values("Item", "nick") == ["b", "a", "y", "c"].map(Value.string))
        // The first record is right, because the second sets its value free.
        #expect(
            files.message(items, ["i.csv": "id,nick\n1,a\n2,x\n8,c\n9,c\n"]).contains(
                "line 5: an earlier object in the files has the same nick"))
        #expect(try files.values("Item", "nick") == ["b", "a", "y", "c"].map(Value.string))
    }

    /// A consumer of the history sees all of a load that updates objects.
    @Test(arguments: TestStore.all) func theHistoryRecordsNewObjectsToo(_ kind: TestStore) throws {
        let files = try files(kind)
        defer { files.close() }
        #expect(files.store.capabilities.contains(.history))
        try files.load(relating, ["p.csv": "code,name,team,lineup,captain\n7,New,Red,Red,\n2,Bo,Red,Red,\n"])
        // The load before it was of new objects alone: only the captain of a team is in the history. A server may withhold entries for a moment.
        var changes: [[HistoryChange.Kind]] = []
        for _ in 0..<3000 where changes.count < 2 {
            let reader = try files.store.beginRead()
            defer { reader.end() }
            changes = try reader.history(since: nil, limit: 10).map { $0.changes.map(\.kind) }
            if changes.count < 2 { Thread.sleep(forTimeInterval: 0.01) }
        }
        let player = try #require(files.store.schema.index(of: "Player")), name = try #require(files.store.schema[player].slot("name"))
        var mask = SlotMask()
        mask.insert(name)
        #expect(changes.count == 2 && changes.last.map(Set.init) == [.insert, .update(mask), .links(0)], "\(changes)")
    }

    /// A relationship that is its own inverse, which both records of a pair may name.
    @Test(arguments: TestStore.all) func recordsOfACoupleMustAgree(_ kind: TestStore) throws {
        let schema = try Schema(entities: [
            Entity(
                "Person", attributes: [Attribute("id", .int64)],
                relationships: [Relationship("spouse", to: "Person", .toOne, inverse: "spouse")])
        ])
        let couples = #"[{"file": "p.csv", "entity": "Person", "on": ["id"], "relationships": {"spouse": {"id": "spouse"}}}]"#
        let files = try Files(schema, kind)
        defer { files.close() }
        try files.load(couples, ["p.csv": "id,spouse\n1,2\n2,1\n3,4\n4,3\n"])
        func spouses() throws -> [Value] { try files.values("Person", "spouse") }
        #expect(try spouses() == [2, 1, 4, 3].map(Value.int))
        // A nil beside a record that names the other one is no contradiction.
        try files.load(couples, ["p.csv": "id,spouse\n1,\n2,1\n"])
        #expect(try spouses() == [2, 1, 4, 3].map(Value.int))
        #expect(files.message(couples, ["p.csv": "id,spouse\n1,3\n2,1\n4,\n"]).contains("another object"))
        #expect(try spouses() == [2, 1, 4, 3].map(Value.int))
        try files.load(couples, ["p.csv": "id,spouse\n1,3\n3,1\n2,4\n4,2\n"])
        #expect(try spouses() == [3, 4, 1, 2].map(Value.int))
        try files.load(couples, ["p.csv": "id,spouse\n1,\n"])
        #expect(try spouses() == [.null, .int(4), .null, .int(2)])
        #expect(try isWhole(files))
    }
}

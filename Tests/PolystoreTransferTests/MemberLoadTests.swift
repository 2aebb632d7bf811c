import Foundation
import PolystoreStorage
import PolystoreTransfer
import TestStores
import Testing

/// Files whose records add members to to-many relationships.
@Suite struct MemberLoadTests {
    private static let schema = Result {
        try Schema(entities: [
            Entity(
                "Student", attributes: [Attribute("id", .int64), Attribute("name", .string, isOptional: true)],
                relationships: [
                    Relationship("courses", to: "Course", .toMany, inverse: "students", maxCount: 3),
                    Relationship("favourites", to: "Course", .toManyOrdered), Relationship("rooms", to: "Room", .toMany, inverse: "owner"),
                ]),
            Entity(
                "Course", attributes: [Attribute("code", .string)],
                relationships: [Relationship("students", to: "Student", .toMany, inverse: "courses")]),
            Entity(
                "Room", attributes: [Attribute("number", .int64)],
                relationships: [Relationship("owner", to: "Student", .toOne, inverse: "rooms")]),
        ])
    }

    private func files(_ kind: TestStore) throws -> Files {
        let files = try Files(Self.schema.get(), kind)
        try files.load(
            #"[{"file": "s.csv", "entity": "Student"}, {"file": "c.csv", "entity": "Course"}]"#,
            ["s.csv": "id,name\n1,Ann\n2,Bob\n", "c.csv": "code\nA\nB\nC\nD\n"])
        return files
    }

    /// The codes of the courses of each student, in the order of the relationship.
    private func courses(_ files: Files, _ relationship: String) throws -> [[String]] {
        let reader = try files.store.beginRead(), schema = files.store.schema
        defer { reader.end() }
        let codes = try files.values("Course", "code").map { "\($0)" }
        let link = try #require(schema.links.firstIndex { $0.name.hasSuffix("." + relationship) || $0.memberRelationship == relationship })
        let isOwner = schema.entities[schema.links[link].owner].name == "Student"
        var found: [Int64: [Int64]] = [:]
        try reader.links(link, side: .owner, keys: nil) { pairs throws(StorageError) in
            for pair in pairs { found[isOwner ? pair.owner : pair.member, default: []].append(isOwner ? pair.member : pair.owner) }
        }
        return (1...2).map { (found[$0] ?? []).map { codes[Int($0) - 1] } }
    }

    private func text(_ code: String) -> String { "\(Value.string(code))" }

    private func isWhole(_ files: Files) throws -> Bool {
        var findings: [CheckFinding] = []
        try TransferEngine().check(files.store) { findings.append($0) }
        return findings.isEmpty
    }

    @Test(arguments: TestStore.all) func theRecordsOfAJoiningTableAddMembers(_ kind: TestStore) throws {
        let files = try files(kind)
        defer { files.close() }
        let mapping = #"[{"file": "j.csv", "entity": "Student", "on": ["id"], "relationships": {"courses": {"code": "course"}}}]"#
        let report = try files.load(mapping, ["j.csv": "id,course\n1,A\n2,B\n1,C\n1,A\n2,X\n"])
        #expect(report.loaded.map { [$0.count, $0.updated, $0.unchanged] } == [[0, 3, 2]])
        #expect(report.dangling.map { [$0.unresolved, $0.distinct] } == [[1, 1]])
        #expect(try courses(files, "courses").map(Set.init) == [[text("A"), text("C")], [text("B")]])
        #expect(try isWhole(files))
        #expect(try files.load(mapping, ["j.csv": "id,course\n1,C\n"]).loaded.map(\.unchanged) == [1])
        // From the other end it is the same relationship.
        let other = #"[{"file": "j.csv", "entity": "Course", "on": ["code"], "relationships": {"students": {"id": "student"}}}]"#
        #expect(try files.load(other, ["j.csv": "code,student\nB,1\nC,1\n"]).loaded.map { [$0.updated, $0.unchanged] } == [[1, 1]])
        #expect(try courses(files, "courses").map(Set.init) == [[text("A"), text("B"), text("C")], [text("B")]])
        #expect(
            files.message(mapping, ["j.csv": "id,course\n1,D\n"])
                == "Student.courses must have 0 to 3 objects; nothing was loaded")
        #expect(try isWhole(files))
    }

    @Test(arguments: TestStore.all) func aFieldNamesSeveralMembers(_ kind: TestStore) throws {
        let files = try files(kind)
        defer { files.close() }
        let csv = #"""
            [{"file": "s.csv", "entity": "Student", "on": ["id"], "separator": ";",
              "relationships": {"courses": {"code": "courses"}, "favourites": {"code": "favourites"}}}]
            """#
        try files.load(csv, ["s.csv": "id,courses,favourites\n1,A;B,D;A;D\n2,,B\n"])
        #expect(try courses(files, "favourites") == [[text("D"), text("A")], [text("B")]])
        let json = #"""
            [{"file": "s.ndjson", "entity": "Student", "on": ["id"],
              "relationships": {"courses": {"code": "courses"}, "favourites": {"code": "favourites"}}}]
            """#
        try files.load(json, ["s.ndjson": #"{"id": 1, "favourites": ["C", "A"]}"# + "\n" + #"{"id": 2, "courses": "C", "favourites": []}"#])
        #expect(try courses(files, "favourites") == [[text("D"), text("A"), text("C")], [text("B")]])
        #expect(try courses(files, "courses").map(Set.init) == [[text("A"), text("B")], [text("C")]])
        #expect(try isWhole(files))
    }

    /// New objects, and members of a file that comes later.
    @Test(arguments: TestStore.all) func newObjectsHaveMembersToo(_ kind: TestStore) throws {
        let files = try files(kind)
        defer { files.close() }
        let mapping = #"""
            [{"file": "s.csv", "entity": "Student", "relationships": {"favourites": {"code": "favourite"}}},
             {"file": "c.csv", "entity": "Course"}]
            """#
        try files.load(mapping, ["s.csv": "id,favourite\n3,E\n4,A\n", "c.csv": "code\nE\n"])
        #expect(try files.values("Student", "id", where: "ANY favourites.code == 'E'") == [.int(3)])
        #expect(try files.values("Student", "id", where: "ANY favourites.code == 'A'") == [.int(4)])
        #expect(try isWhole(files))
    }

    @Test func theMembersThatReferToTheirObjectAreMappedThere() throws {
        let files = try files(.memory)
        defer { files.close() }
        let mapping = #"[{"file": "s.csv", "entity": "Student", "on": ["id"], "relationships": {"rooms": {"number": "room"}}}]"#
        #expect(
            files.message(mapping, ["s.csv": "id,room\n1,7\n"])
                == "s.csv: the members of Student.rooms refer to their object by Room.owner; map that relationship in the file of the members"
        )
        #expect(
            files.message(mapping.replacing("rooms", with: "room"), ["s.csv": "id,room\n1,7\n"])
                == #"s.csv: Student has no relationship "room"; did you mean "rooms"?"#)
    }

    /// Each record is counted by what it adds, also to an object that an earlier record has made.
    @Test(arguments: TestStore.all) func manyRecordsAddMembersToOneObject(_ kind: TestStore) throws {
        let files = try files(kind)
        defer { files.close() }
        let mapping = #"""
            [{"file": "c.csv", "entity": "Course"},
             {"file": "j.csv", "entity": "Student", "on": ["id"], "relationships": {"favourites": {"code": "course"}}}]
            """#
        let codes = (0..<3000).map { "X\($0)" }
        let report = try files.load(
            mapping,
            [
                "c.csv": "code\n" + codes.joined(separator: "\n"),
                "j.csv": "id,course\n" + codes.map { "7,\($0)\n" }.joined() + "7,X0\n7,X0\n",
            ])
        #expect(report.loaded.map { [$0.count, $0.updated, $0.unchanged] } == [[3000, 0, 0], [1, 2999, 2]])
        #expect(try files.values("Student", "id", where: "favourites.@count == 3000") == [.int(7)])
        #expect(try isWhole(files))
    }

    @Test func separatorsThatDivideNothingAreRefused() throws {
        let files = try files(.memory)
        defer { files.close() }
        for mapping in [
            #"[{"file": "s.csv", "entity": "Student", "separator": ";"}]"#,
            #"[{"file": "s.csv", "entity": "Student", "separator": "", "relationships": {"courses": {"code": "course"}}}]"#,
        ] {
            #expect(files.message(mapping, ["s.csv": "id,course\n5,A\n"]).hasPrefix(#"s.csv: "separator" is a text between the values"#))
        }
    }
}

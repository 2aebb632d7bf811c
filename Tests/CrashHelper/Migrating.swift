import Foundation
import Polystore
import PolystoreCatalog
import RawSessions

/// A store that is led from one version of a model to the next, for a test that kills it on the way:
/// polystore-crash --fill URL COUNT, --migrate URL, --verify URL COUNT.
///
/// Every value follows from the number of its object, so that one that is wrong is seen.
struct Migrating {
    let url: String
    let count: Int

    static func old() throws -> Schema {
        try Schema(
            version: "V1",
            entities: [
                Entity(
                    "Person",
                    attributes: [Attribute("name", .string), Attribute("age", .int16), Attribute("note", .string, isOptional: true)],
                    relationships: [
                        Relationship("team", to: "Team", inverse: "members"),
                        Relationship("favorites", to: "Team", .toMany, inverse: "fans"),
                    ], indexes: [Index(["age"])], uniqueConstraints: [UniqueConstraint(["name"])]),
                Entity(
                    "Team", attributes: [Attribute("title", .string)],
                    relationships: [
                        Relationship("members", to: "Person", .toMany, inverse: "team"),
                        Relationship("fans", to: "Person", .toMany, inverse: "favorites"),
                    ]),
            ])
    }

    static func new() throws -> Schema {
        try Schema(
            version: "V2",
            entities: [
                Entity(
                    "Person",
                    attributes: [
                        Attribute("fullName", .string), Attribute("age", .int64), Attribute("level", .int32, defaultValue: .int(3)),
                    ],
                    relationships: [
                        Relationship("club", to: "Club", inverse: "members", originalName: "team"),
                        Relationship("favorites", to: "Club", .toMany, inverse: "fans"),
                    ], indexes: [Index(["age"])], uniqueConstraints: [UniqueConstraint(["fullName"])]),
                Entity(
                    "Club", attributes: [Attribute("title", .string), Attribute("isOpen", .bool, defaultValue: .bool(true))],
                    relationships: [
                        Relationship("members", to: "Person", .toMany, inverse: "club"),
                        Relationship("fans", to: "Person", .toMany, inverse: "favorites"),
                    ], originalName: "Team"),
            ])
    }

    private static let mapping = CustomSchemaMappingProvider(
        from: "V1", to: "V2",
        entityMappings: [
            .transformEntity(sourceEntity: "Person", destinationEntity: "Person") { source, create in
                // Every hundredth is left behind.
                if source.key % 100 == 0 { return }
                let person = create()
                person.copyAttributes(from: source)
                person["fullName"] = "\(source["name"] as? String ?? "") of \(source["age"] as? Int ?? 0)"
            }
        ])

    private var teams: Int { max(count / 1000, 1) }
    private func team(_ person: Int) -> Int { person % teams + 1 }

    private func store() throws -> any StorageInterface { try StoreCatalog.standard.store(at: StoreURL(url), configuration: nil) }

    func fill() throws {
        let store = try store()
        _ = try store.open(OpenRequest(schema: Self.old()))
        let schema = try Self.old(), person = schema.index(of: "Person") ?? 0, team = schema.index(of: "Team") ?? 1
        let writer = try store.beginWrite(WriteOptions(bulk: .whole))
        defer { writer.end() }
        let batch = RowBatch(capacity: 8192)
        for number in 1...teams {
            let cell = batch.cell(for: .string("Team \(number)"))
            batch.appendRow(key: Int64(number), version: 1, entity: team, slots: 1)[0] = cell
        }
        try writer.load(team, batch)
        batch.clear()
        for number in 1...count {
            let name = batch.cell(for: .string("Person \(number)"))
            let note = number % 3 == 0 ? batch.cell(for: .string("A note of some length about person \(number)")) : .null
            let cells = batch.appendRow(key: Int64(number), version: 1, entity: person, slots: 4)
            cells[0] = name
            cells[1] = .int(Int64(number % 90))
            cells[2] = note
            cells[3] = .int(Int64(self.team(number)))
            if batch.isFull || number == count {
                try writer.load(person, batch)
                batch.clear()
            }
        }
        try writer.load(link: 0, (1...count).filter { $0 % 10 == 5 }.map { LinkPair(owner: Int64($0), member: Int64(self.team($0 + 1))) })
        _ = try writer.commit(CommitRecord())
        try store.close()
    }

    func migrate() throws {
        let store = try store()
        let state = try store.open(OpenRequest(schema: nil, createIfMissing: false))
        var history = try SchemaHistory(Self.old(), Self.new(), migrationChain: ["V1", "V2"])
        history.backsUpFiles = false
        FileHandle.standardOutput.write(Data(".".utf8))
        try MigrationRunner(history, OpenStore(store, state), mappingProviders: [Self.mapping]).run()
        FileHandle.standardOutput.write(Data("!".utf8))
        try store.close()
    }

    /// The version that is there, when every value of it is right.
    func verify() throws -> String {
        let store = try store()
        let state = try store.open(OpenRequest(schema: nil, createIfMissing: false))
        defer { try? store.close() }
        let schema = state.schema, isOld = schema.version == "V1"
        guard schema == (isOld ? try Self.old() : try Self.new()) else { return "another schema" }
        let reader = try store.beginRead()
        defer { reader.end() }
        let person = schema.index(of: "Person") ?? 0, team = schema.index(of: isOld ? "Team" : "Club") ?? 0
        var people = try rows(reader, schema, person).makeIterator()
        for number in 1...count where isOld || number % 100 != 0 {
            let note: Value = number % 3 == 0 ? .string("A note of some length about person \(number)") : .null
            let age = Value.int(Int64(number % 90)), club = Value.int(Int64(self.team(number)))
            let values: [Value] =
                isOld
                ? [.string("Person \(number)"), age, note, club] : [.string("Person \(number) of \(number % 90)"), age, .int(3), club]
            guard let row = people.next(), row.0 == Int64(number), row.1 == values else { return "person \(number) is wrong" }
        }
        if people.next() != nil { return "there are too many people" }
        let expected: [(Int64, [Value])] = (1...teams).map { (Int64($0), [.string("Team \($0)")] + (isOld ? [] : [.bool(true)])) }
        let found = try rows(reader, schema, team)
        guard found.count == expected.count, zip(found, expected).allSatisfy({ $0 == $1 }) else { return "the teams are wrong" }
        var pairs: [LinkPair] = []
        try reader.links(0, side: .member, keys: nil) { chunk throws(StorageError) in pairs += chunk }
        let (owners, members) = (Set(pairs.map(\.owner)), Set(pairs.map(\.member)))
        let fans = (1...count).filter { $0 % 10 == 5 }.count
        guard pairs.count == fans, (owners.count == fans) != (members.count == fans) || teams == fans else { return "the fans are wrong" }
        let index = CheckedPath(steps: [], entity: person, leaf: .slot(1), type: isOld ? .int16 : .int64, text: "age")
        let byIndex = try reader.values(for: .count(FetchPlan(schema, person, where: .compare(index, .equal, .int(7)))))
        let sevens = (1...count).filter { $0 % 90 == 7 && (isOld || $0 % 100 != 0) }.count
        guard byIndex == [[.int(Int64(sevens))]] else { return "the index is wrong" }
        return schema.version
    }

    private func rows(_ reader: any StorageReader, _ schema: Schema, _ entity: EntityIndex) throws -> [(Int64, [Value])] {
        let cursor = try reader.cursor(for: FetchPlan(schema, entity)), batch = RowBatch(capacity: 4096), slots = schema[entity].slots
        var rows: [(Int64, [Value])] = []
        while try cursor.next(into: batch) {
            for index in 0..<batch.count {
                let row = batch.row(index)
                rows.append((row.key, slots.indices.map { Value(row[$0], as: slots[$0].type) ?? .null }))
            }
        }
        return rows
    }
}

import Foundation
import PolystoreSQL
import PolystoreStorage
import RawSessions
import Testing

@testable import PolystorePostgreSQL

/// A transaction waits for the server a fixed number of times, however many kinds of changes it has.
@Suite(.enabled(if: TestServer.url != nil, "needs a PostgreSQL server; .ci/run starts one")) struct PostgreSQLPipelineTests {
    private static let schema = Result {
        try Schema(entities: [
            Entity(
                "A", attributes: [Attribute("x", .int64), Attribute("y", .string, isOptional: true)],
                relationships: [Relationship("bs", to: "B", .toMany)], uniqueConstraints: [UniqueConstraint(["x"])]),
            Entity("B", attributes: [Attribute("z", .decimal, isOptional: true)]),
        ])
    }

    private func withStore(_ body: (PostgreSQLStore) throws -> Void) throws {
        let store = PostgreSQLStore(conninfo: try #require(TestServer.url), schema: "polystore_\(UUID().uuidString)")
        defer { try? store.erase() }
        _ = try store.open(OpenRequest(schema: try Self.schema.get()))
        try body(store)
    }

    private func rows(_ entity: EntityIndex, _ keys: [Int64], slots: Int) -> RowSource {
        RowSource(count: keys.count) { range, batch in
            for key in keys[range] {
                let cells = batch.appendRow(key: key, version: 1, entity: entity, slots: slots)
                cells.update(repeating: .null, count: slots)
                if entity == 0 { cells[0] = .int(key) }
            }
        }
    }

    private func changes() -> ChangeSet {
        var mask = SlotMask()
        mask.insert(1)
        return ChangeSet(
            entities: [
                EntityChanges(
                    entity: 0, deletes: [RowDeletion(key: 1)],
                    updates: [RowUpdate(mask: mask, checksVersion: true, rows: rows(0, [2], slots: 2))], inserts: rows(0, [5, 6], slots: 2)),
                EntityChanges(entity: 1, inserts: rows(1, [1, 2], slots: 1)),
            ],
            links: [LinkChanges(link: 0, removed: [LinkPair(owner: 2, member: 9)], added: [LinkPair(owner: 5, rank: 0, member: 1)])])
    }

    @Test func allChangesGoInOneRoundTripAndTheCommitInAnother() throws {
        try withStore { store in
            let first = try #require(try store.beginWrite(WriteOptions()) as? PostgreSQLWriter)
            try first.apply(ChangeSet(entities: [EntityChanges(entity: 0, inserts: rows(0, [1, 2, 3], slots: 2))]))
            _ = try first.commit(CommitRecord())
            // The second time all statements are known to the server; the first prepared them on the way.
            for _ in 0..<2 {
                let writer = try #require(try store.beginWrite(WriteOptions()) as? PostgreSQLWriter)
                defer { writer.end() }
                let before = writer.connection.roundTrips
                try writer.apply(changes())
                #expect(writer.connection.roundTrips - before == 1)
            }
            let writer = try #require(try store.beginWrite(WriteOptions()) as? PostgreSQLWriter)
            try writer.apply(changes())
            let before = writer.connection.roundTrips
            _ = try writer.commit(CommitRecord(author: "a"))
            // The commit, and giving back the lock.
            #expect(writer.connection.roundTrips - before == 2)
            let batch = RowBatch()
            let reader = try store.beginRead()
            defer { reader.end() }
            try reader.rows(0, keys: [1, 2, 3, 5, 6], into: batch)
            #expect((0..<batch.count).map { [batch.key($0), batch.row($0).version] } == [[2, 2], [3, 1], [5, 1], [6, 1]])
        }
    }

    @Test func rowsOfOneEntityAreCopiedAtOnceHoweverManyTheyAre() throws {
        try withStore { store in
            var next: Int64 = 1
            // The first transaction prepares the statements. 40,000 rows are more than the writer reads from its source at once.
            let exchanges = try [100, 100, 40_000].map { count in
                let writer = try #require(try store.beginWrite(WriteOptions()) as? PostgreSQLWriter)
                defer { writer.end() }
                let keys = Array(next..<next + Int64(count))
                next += Int64(count)
                let before = writer.connection.roundTrips
                try writer.apply(ChangeSet(entities: [EntityChanges(entity: 0, inserts: rows(0, keys, slots: 2))]))
                _ = try writer.commit(CommitRecord())
                return writer.connection.roundTrips - before
            }
            #expect(exchanges[2] == exchanges[1])
        }
    }

    @Test func anErrorInTheMiddleIsTheOneThatIsThrownAndTheConnectionGoesOn() throws {
        try withStore { store in
            for _ in 0..<2 {
                let writer = try store.beginWrite(WriteOptions())
                defer { writer.end() }
                let twice = ChangeSet(entities: [
                    EntityChanges(entity: 1, inserts: rows(1, [1], slots: 1)),
                    EntityChanges(entity: 0, deletes: [RowDeletion(key: 77)], inserts: rows(0, [1], slots: 2)),
                ])
                let error = #expect(throws: StorageError.self) { try writer.apply(twice) }
                #expect(error?.code == .notFound)
                #expect(error?.details.keys == [77])
            }
            let writer = try store.beginWrite(WriteOptions())
            try writer.apply(ChangeSet(entities: [EntityChanges(entity: 0, inserts: rows(0, [1], slots: 2))]))
            let error = #expect(throws: StorageError.self) {
                try writer.apply(
                    ChangeSet(entities: [
                        EntityChanges(entity: 0, inserts: rows(0, [1], slots: 2)),
                        EntityChanges(entity: 1, inserts: rows(1, [3], slots: 1)),
                    ]))
            }
            #expect(error?.code == .alreadyExists)
            #expect(throws: StorageError.self) { _ = try writer.commit(CommitRecord()) }
            writer.end()
            let next = try store.beginWrite(WriteOptions())
            try next.apply(ChangeSet(entities: [EntityChanges(entity: 0, inserts: rows(0, [1], slots: 2))]))
            _ = try next.commit(CommitRecord())
        }
    }
}

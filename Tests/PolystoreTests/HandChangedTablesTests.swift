import Foundation
import Polystore
import TestStores
import Testing

@testable import PolystorePostgreSQL
@testable import PolystoreSQLite

/// Tables that somebody has changed by hand: nothing ends the program, and nothing is answered wrongly.
@Suite struct HandChangedTablesTests {
    private static let kinds = TestStore.all.filter { $0 == .sqlite || $0 == .postgresql }

    private static func schema() throws -> Schema {
        try Schema(
            version: "V1",
            entities: [
                Entity(
                    "Note", attributes: [Attribute("text", .string, isOptional: true), Attribute("stars", .int64)],
                    indexes: [Index(["stars"])]),
                Entity("Tag", attributes: [Attribute("name", .string)]),
            ])
    }

    /// A store with notes and tags, as it is after a statement by hand and a new start.
    private func withStore(_ kind: TestStore, _ statement: String, _ body: (DataStack) throws -> Void) throws {
        let name = "polystore_\(UUID().uuidString.lowercased())", store = kind.make(named: name),
            first = try DataStack(schema: Self.schema())
        defer { try? store.erase() }
        try first.addStorageAndWait(store)
        try first.perform(synchronous: { transaction in
            for number in 0..<20 {
                let note = try transaction.create(Into<DynamicObject>(entity: "Note"))
                try note.setValue(.string("note \(number)"), for: "text")
                try note.setValue(.int(Int64(number % 5)), for: "stars")
            }
            try transaction.create(Into<DynamicObject>(entity: "Tag")).setValue(.string("red"), for: "name")
        })
        try first.removeStorage(store)
        if let file = (store as? any LocalStorage)?.fileURL {
            try SQLiteConnection(path: file.path, readOnly: false, create: false).execute(statement)
        } else {
            try PostgreSQLConnection(conninfo: TestStore.server ?? "", schema: name).execute(statement)
        }
        let stack = try DataStack(schema: Self.schema())
        try stack.addStorageAndWait(store)
        try body(stack)
        try stack.removeStorage(store)
    }

    private func code(_ body: () throws -> Void) -> StorageError.Code? {
        do { try body() } catch { return (error as? StorageError)?.code }
        return nil
    }

    @Test(arguments: kinds) func aMissingColumnIsATypedErrorOfEachOperationThatNeedsIt(_ kind: TestStore) throws {
        try withStore(kind, #"ALTER TABLE "Note" DROP COLUMN "text""#) { (stack: DataStack) throws in
            #expect(code { _ = try stack.fetchAll(From<DynamicObject>(entity: "Note")) } == .corrupted)
            #expect(
                code {
                    try stack.perform(synchronous: {
                        try $0.create(Into<DynamicObject>(entity: "Note")).setValue(.int(1), for: "stars")
                    })
                } == .corrupted)
            #expect(try stack.fetchCount(From<DynamicObject>(entity: "Note")) == 20)
            #expect(try stack.fetchAll(From<DynamicObject>(entity: "Tag")).map { try $0.value("name") } == [.string("red")])
        }
    }

    @Test(arguments: kinds) func aMissingTableIsATypedErrorOfEachOperationThatNeedsIt(_ kind: TestStore) throws {
        try withStore(kind, #"DROP TABLE "Note""#) { (stack: DataStack) throws in
            #expect(code { _ = try stack.fetchCount(From<DynamicObject>(entity: "Note")) } == .corrupted)
            #expect(try stack.fetchCount(From<DynamicObject>(entity: "Tag")) == 1)
        }
    }

    @Test(arguments: kinds) func columnsAndTablesOfOtherProgramsAreKept(_ kind: TestStore) throws {
        try withStore(kind, #"ALTER TABLE "Note" ADD COLUMN extra TEXT DEFAULT 'x'"#) { (stack: DataStack) throws in
            let three = From<DynamicObject>(entity: "Note").where(Where(format: "stars == 3"))
            let rows = try stack.fetchAll(three)
            #expect(rows.count == 4)
            try stack.perform(synchronous: { transaction in
                let note = try transaction.create(Into<DynamicObject>(entity: "Note"))
                try note.setValue(.int(3), for: "stars")
            })
            #expect(try stack.fetchCount(three) == 5)
        }
    }

    @Test(arguments: kinds) func aMissingIndexCostsTimeAndNothingElse(_ kind: TestStore) throws {
        try withStore(kind, #"DROP INDEX "Note.index.stars""#) { (stack: DataStack) throws in
            let three = From<DynamicObject>(entity: "Note").where(Where(format: "stars == 3"))
            #expect(try stack.fetchAll(three).map { try $0.value("text") } == [3, 8, 13, 18].map { .string("note \($0)") })
            try stack.perform(synchronous: { try $0.create(Into<DynamicObject>(entity: "Note")).setValue(.int(3), for: "stars") })
            #expect(try stack.fetchCount(three) == 5)
        }
    }
}

import Foundation
import PolystoreCompatibility
import PolystoreSQLite
import Testing

/// Files of an earlier version of the model in `addDatabaseStore` of CoreDataMonk and `addSQLiteStore` of HardcoreData.
@Suite struct DatabaseStoreTests {
    private let url = FileManager.default.temporaryDirectory.appendingPathComponent("polystore-\(UUID().uuidString).sqlite")

    private static let name = Attribute("name", .string, isOptional: true), age = Attribute("age", .int64, isOptional: true)

    private func stack(_ attributes: Attribute..., unique: [String] = []) throws -> DataStack {
        let constraints = unique.isEmpty ? [] : [UniqueConstraint(unique)]
        return try DataStack(
            schema: Schema(entities: [Polystore.Entity("Person", attributes: attributes, uniqueConstraints: constraints)]))
    }

    /// Stores two people of the first version, both named Ann.
    private func fill() throws {
        let stack = try stack(Self.name)
        try CoreDataStack(stack).addDatabaseStore(fileURL: url)
        try stack.perform(synchronous: { transaction in
            for _ in 0..<2 { try transaction.create(Into<DynamicObject>(entity: "Person")).setValue(.string("Ann"), for: "name") }
        })
        for storage in stack.storages { try stack.removeStorage(storage) }
    }

    private func count(_ stack: DataStack) throws -> Int { try stack.fetchCount(From<DynamicObject>(entity: "Person")) }

    private func end(_ stacks: DataStack...) throws {
        for stack in stacks { for storage in stack.storages { try stack.removeStorage(storage) } }
        try SQLiteStore(fileURL: url).erase()
    }

    @Test func aFileIsMigratedUnlessThatIsTurnedOff() throws {
        try fill()
        let stack = try stack(Self.name, Self.age)
        #expect { try CoreDataStack(stack).addDatabaseStore(fileURL: url, autoMigrating: false) } throws: {
            ($0 as? StorageError)?.code == .schemaMismatch
        }
        try CoreDataStack(stack).addDatabaseStore(fileURL: url)
        #expect(try count(stack) == 2)
        try end(stack)
    }

    @Test(arguments: [false, true]) func resettingKeepsAFileThatCanBeMigrated(_ autoMigrating: Bool) throws {
        try fill()
        let longer = try stack(Self.name, Self.age), shorter = try stack(Self.age)
        try CoreDataStack(longer).addDatabaseStore(fileURL: url, autoMigrating: autoMigrating, resetOnFailure: true)
        #expect(try count(longer) == 2)
        for storage in longer.storages { try longer.removeStorage(storage) }
        #expect { try CoreDataStack(shorter).addDatabaseStore(fileURL: url) } throws: { ($0 as? StorageError)?.code == .dataLossRefused }
        try CoreDataStack(shorter).addDatabaseStore(fileURL: url, autoMigrating: autoMigrating, resetOnFailure: true)
        #expect(try count(shorter) == 2)
        try end(shorter)
    }

    @Test func resettingReplacesAFileThatCannotBeMigrated() throws {
        try fill()
        let stack = try stack(Self.name, unique: ["name"])
        #expect { try CoreDataStack(stack).addDatabaseStore(fileURL: url) } throws: {
            ($0 as? StorageError)?.code == .uniqueConstraintViolated
        }
        try CoreDataStack(stack).addDatabaseStore(fileURL: url, resetOnFailure: true)
        #expect(try count(stack) == 0)
        try end(stack)
    }

    @Test func hardcoreDataMigratesIfRequested() throws {
        try fill()
        let stack = try stack(Self.name, Self.age)
        guard case .failure(let error) = stack.addSQLiteStore(fileURL: url, automigrating: false) else {
            Issue.record("the file has another version")
            return
        }
        #expect(error.code == .schemaMismatch)
        guard case .success = stack.addSQLiteStore(fileURL: url, automigrating: true) else {
            Issue.record("the file can be migrated")
            return
        }
        #expect(try count(stack) == 2)
        try end(stack)
    }

    @Test func hardcoreDataResetsAnExistingFileAfterAFailedMigration() throws {
        try fill()
        let stack = try stack(Self.name, unique: ["name"])
        guard case .failure(let error) = stack.addSQLiteStore(fileURL: url) else {
            Issue.record("two people have the same name")
            return
        }
        #expect(error.code == .uniqueConstraintViolated)
        #expect(throws: Never.self) { try stack.addSQLiteStore(fileURL: url, resetStoreOnMigrationFailure: true).get() }
        #expect(try count(stack) == 0)
        try end(stack)
    }
}

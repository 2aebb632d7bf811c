import Foundation
import Polystore
import TestStores
import Testing

/// Statements in SQL that change rows and return them, and queries that lock rows.
@Suite struct ReturningTests {
    private func stack(_ store: TestStore) throws -> DataStack {
        let stack = try store.stack()
        try stack.perform(synchronous: { transaction in
            for (name, age) in [("Ann", 30), ("Bob", 20), ("Cid", 50)] {
                let person = try transaction.create(Person.self)
                (person.name, person.age) = (name, age)
            }
        })
        return stack
    }

    private func code(_ body: () throws -> Void) -> StorageError.Code? {
        do {
            try body()
            return nil
        } catch {
            return (error as? StorageError)?.code
        }
    }

    private static let sqlStores = TestStore.all.filter { [.sqlite, .postgresql].contains($0) }

    @Test(arguments: sqlStores) func changedRowsAreReturnedAndObjectsHaveTheNewValues(_ store: TestStore) throws {
        let stack = try stack(store)
        defer { try? stack.storages.first?.erase() }
        try stack.perform(synchronous: { transaction in
            let ann = try #require(try transaction.fetchOne(From<Person>().where(\.name == "Ann")))
            let rows = try transaction.executeReturning(
                """
                UPDATE \(table: Person.self) SET \(column: \Person.age) = \(column: \Person.age) + 1 \
                WHERE \(column: \Person.age) >= \(30) RETURNING \(column: \Person.name) AS name, \(column: \Person.age) AS age
                """)
            #expect(Set(rows.map(\.values)) == [[.string("Ann"), .int(31)], [.string("Cid"), .int(51)]])
            #expect(rows.first?.names == ["name", "age"])
            #expect(ann.age == 31)
            let gone = try transaction.executeReturning(
                "DELETE FROM \(table: Person.self) WHERE \(column: \Person.name) = \("Ann") RETURNING \(column: \Person.age)")
            #expect(gone.map(\.values) == [[.int(31)]])
            #expect(ann.isDeletedObject)
        })
        #expect(try stack.fetchAll(From<Person>().orderBy(.ascending(\.name))).map(\.age) == [20, 51])
    }

    @Test(arguments: sqlStores) func aStatementWithoutReturningChangesNothing(_ store: TestStore) throws {
        let stack = try stack(store)
        defer { try? stack.storages.first?.erase() }
        try stack.perform(synchronous: { transaction in
            #expect(
                code { _ = try transaction.executeReturning("DELETE FROM \(table: Person.self)") } == .invalidPredicate)
            #expect(code { _ = try transaction.executeReturning("SELECT 1 AS a") } == .invalidPredicate)
        })
        #expect(try stack.fetchCount(From<Person>()) == 3)
    }

    /// A queue: each worker takes a row that no other one has locked.
    @Test(.enabled(if: TestStore.server != nil, "needs a PostgreSQL server; .ci/run starts one"))
    func rowsThatAnotherTransactionHasLockedAreSkipped() async throws {
        let stack = try stack(.postgresql)
        defer { try? stack.storages.first?.erase() }
        let isLocked = AsyncStream<Void>.makeStream(), mayEnd = DispatchSemaphore(value: 0)
        let next: @Sendable (WriteTransaction) throws -> [String?] = { transaction in
            try transaction.queryRows(
                """
                SELECT \(column: \Person.name) AS name FROM \(table: Person.self) ORDER BY \(column: \Person.age) LIMIT 1 \
                FOR UPDATE SKIP LOCKED
                """
            ).map { try $0.value("name", as: String.self) }
        }
        let first = Task {
            try await stack.perform { transaction in
                let names = try next(transaction)
                isLocked.continuation.finish()
                mayEnd.wait()
                return names
            }
        }
        for await _ in isLocked.stream {}
        let second = try await stack.perform { transaction in
            let names = try next(transaction)
            #expect(
                self.code {
                    _ = try transaction.queryRows(
                        "SELECT 1 AS a FROM \(table: Person.self) WHERE \(column: \Person.name) = \("Bob") FOR UPDATE NOWAIT")
                } == .busy)
            // The transaction continues after the refusal.
            return try names + [transaction.fetchCount(From<Person>())].map(String.init)
        }
        mayEnd.signal()
        #expect(try await first.value == ["Bob"])
        #expect(second == ["Ann", "3"])
    }

    @Test(.enabled(if: TestStore.server != nil, "needs a PostgreSQL server; .ci/run starts one"))
    func onlyQueriesOfWriteTransactionsLockRows() throws {
        let stack = try stack(.postgresql)
        defer { try? stack.storages.first?.erase() }
        let locking: RawSQL = "SELECT 1 AS a FROM \(table: Person.self) FOR SHARE"
        #expect(code { _ = try stack.queryRows(locking) } == .readOnly)
        #expect(code { try stack.read(synchronous: { _ = try $0.queryRows(locking) }) } == .readOnly)
        try stack.perform(synchronous: { transaction in
            #expect(code { _ = try transaction.queryRows("SELECT 1 AS a INTO taken FROM \(table: Person.self) FOR SHARE") } != nil)
            #expect(code { _ = try transaction.queryRows("SELECT key FROM polystore_metadata FOR UPDATE") } == .invalidPredicate)
            #expect(
                code {
                    _ = try transaction.queryRows(
                        "WITH gone AS (DELETE FROM \(table: Person.self) RETURNING 1) SELECT 1 AS a FROM \(table: Person.self) FOR UPDATE")
                } == .readOnly)
            let locked = try transaction.queryRows(locking)
            #expect(locked.count == 3)
        })
        #expect(try stack.fetchCount(From<Person>()) == 3)
    }
}

/// The keys that statements of one program choose while another one has reserved them for new objects.
@Suite(.timeLimit(.minutes(2))) struct ChosenKeyTests {
    @Test(arguments: [TestStore.sqlite, .postgresql]) func aProgramWithReservedKeysCreatesObjectsNevertheless(_ kind: TestStore) throws {
        let name = "polystore_\(UUID().uuidString.lowercased())"
        let (first, second) = try (DataStack(Person.self, Animal.self, Dog.self), DataStack(Person.self, Animal.self, Dog.self))
        let storage = kind.make(named: name)
        try first.addStorageAndWait(storage)
        try second.addStorageAndWait(kind.make(named: name))
        defer { try? storage.erase() }
        func create(_ name: String, _ stack: DataStack) throws {
            try stack.perform(synchronous: { try $0.create(Person.self).name = name })
        }
        try create("A", first)
        try create("B", second)
        // As if another program, which knows nothing of reserved keys, had copied rows.
        let copies: RawSQL = """
            INSERT INTO \(table: Person.self) (\(column: \Person.self), "_version", \(column: \Person.name), \(column: \Person.age))
            WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 30000)
            SELECT (SELECT max(\(column: \Person.self)) FROM \(table: Person.self)) + i, 1, 'copy', 0 FROM n
            """
        #expect(try first.perform(synchronous: { try $0.execute(copies) }) == 30_000)
        for number in 0..<3 {
            try create("C\(number)", second)
            try create("D\(number)", first)
        }
        let found = try second.fetchAll(From<Person>().where(\.name != "copy").orderBy(.ascending(\.name))).map(\.name)
        #expect(found == ["A", "B", "C0", "C1", "C2", "D0", "D1", "D2"])
        #expect(try first.fetchCount(From<Person>()) == 30_008)
    }

    /// The keys of new objects of a detached transaction are known before its commit, so another key cannot be chosen for them.
    @Test(arguments: [TestStore.sqlite, .postgresql]) func aDetachedTransactionSaysWhatToDoAboutAChosenKey(_ kind: TestStore) throws {
        let stack = try kind.stack()
        defer { try? stack.storages.first?.erase() }
        let transaction = stack.beginUnsafe(), lost = try transaction.create(Person.self)
        lost.name = "lost"
        let copy: RawSQL = """
            INSERT INTO \(table: Person.self) (\(column: \Person.self), "_version", \(column: \Person.name), \(column: \Person.age))
            VALUES (\(lost.objectID.key.key), 1, 'copy', 0)
            """
        try stack.perform(synchronous: { _ = try $0.execute(copy) })
        for _ in 0..<2 {
            let error = #expect(throws: StorageError.self) { try transaction.commit() }
            #expect(error?.code == .alreadyExists && error?.message.contains("create it again") == true, "\(String(describing: error))")
        }
        try transaction.delete(lost)
        try transaction.create(Person.self).name = "found"
        try transaction.commit()
        #expect(try stack.fetchAll(From<Person>().orderBy(.ascending(\.name))).map(\.name) == ["copy", "found"])
    }
}

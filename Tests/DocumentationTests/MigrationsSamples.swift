#if Macros
import Foundation
import Polystore
import PolystoreMacros
import PolystorePostgreSQL
import PolystoreSQLite
import TestStores
import Testing

/// The samples of "Migrations".
@Suite(.scratch) struct MigrationsSamples {
    enum V1 {
        @Model final class Person: ManagedObject {
            var firstName: String = ""
            var lastName: String = ""
            var isVeryOldAccount: Bool = false
        }
        @Model final class Note: ManagedObject {
            var text: String = ""
            var mail: String = ""
        }
    }
    enum V2 {
        @Model final class Person: ManagedObject {
            var fullName: String = ""
        }
        @Model final class Note: ManagedObject {
            @Attribute(originalName: "text") var body: String = ""
        }
    }

    @Model final class Customer: ManagedObject {
        @Attribute(originalName: "mail") var email: String?
        var isActive: Bool = true
    }

    @Test func aStackMigratesByItself() async throws {
        let released = try Schema(
            version: "1", entities: [Entity("Customer", attributes: [Attribute("mail", .string, isOptional: true)])])
        let old = try DataStack(schema: released)
        try old.addStorageAndWait(SQLiteStore(path: scratch("customers.db")))
        try old.perform(synchronous: { transaction in
            try transaction.create(Into<DynamicObject>(entity: "Customer")).setValue(.string("ann@example.com"), for: "mail")
        })
        try old.removeStorage(old.storages[0])
        let stack = try DataStack(Customer.self, version: "2")
        try await stack.addStorage(SQLiteStore(path: scratch("customers.db")))
        print(stack.schema.version)
        #expect(printed == ["2"])
        #expect(try stack.fetchAll(From<Customer>()).map { [$0.email, "\($0.isActive)"] } == [["ann@example.com", "true"]])
    }

    @Model final class Singer: ManagedObject { var name: String = "" }

    @Test func workOnDataAloneRunsOnce() async throws {
        let old = try DataStack(Singer.self, version: "1")
        try old.addStorageAndWait(SQLiteStore(path: scratch("singers.db")))
        try old.perform(synchronous: { try $0.create(Singer.self).name = " Ann " })
        try old.removeStorage(old.storages[0])
        var history = try SchemaHistory(
            DataStack(Singer.self, version: "1").schema, DataStack(Singer.self, version: "2").schema,
            migrationChain: ["1", "2"], models: [Singer.self])
        history.stages = [
            MigrationStage(
                from: "1", to: "2", label: "trim the names",
                postMigration: { context in
                    try context.perform { transaction in
                        for singer in try transaction.fetchAll(From<Singer>()) {
                            singer.name = singer.name.trimmingCharacters(in: .whitespaces)
                        }
                    }
                })
        ]
        let stack = try DataStack(schemaHistory: history)
        try await stack.addStorage(SQLiteStore(path: scratch("singers.db")))
        #expect(try stack.fetchAll(From<Singer>()).map(\.name) == ["Ann"])
    }

    /// The table of wider types.
    @Test func typesWidenAsTheTableSays() throws {
        let lines = try Checkout.lines("Sources/Polystore/Polystore.docc/Migrations.md")
        let head = try #require(lines.firstIndex(of: "| type | widens to |"))
        let swift: [Substring: ValueType] = [
            "Int16": .int16, "Int32": .int32, "Int": .int64, "Int64": .int64, "Float": .float, "Double": .double, "Decimal": .decimal,
            "URL": .url, "String": .string,
        ]
        var table: [ValueType: Set<ValueType>] = [:]
        for line in lines[(head + 2)...].prefix(while: { $0.hasPrefix("|") }) {
            let cells = line.split(separator: "|").map { $0.matches(of: #/`(\w+)`/#).compactMap { swift[$0.1] } }
            for type in cells[0] { table[type] = Set(cells[1]) }
        }
        for type in ValueType.allCases { #expect(table[type] ?? [] == Set(type.wider), "\(type)") }
    }

    private func history() throws -> SchemaHistory {
        let v1 = try DataStack(V1.Person.self, V1.Note.self, version: "V1").schema
        let v2 = try DataStack(V2.Person.self, V2.Note.self, version: "V2").schema
        return try SchemaHistory(v1, v2, migrationChain: ["V1", "V2"], models: [V2.Person.self, V2.Note.self])
    }

    /// Fills a store of the first version.
    private func fill(_ store: some StorageInterface) throws {
        let stack = try DataStack(V1.Person.self, V1.Note.self, version: "V1")
        try stack.addStorageAndWait(store)
        try stack.perform(synchronous: { transaction in
            for (first, last, isOld) in [("Ann", "Lee", false), ("Bob", "Ray", true)] {
                let person = try transaction.create(V1.Person.self)
                (person.firstName, person.lastName, person.isVeryOldAccount) = (first, last, isOld)
            }
            let note = try transaction.create(V1.Note.self)
            (note.text, note.mail) = ("Tea", "ann@example.com")
        })
        try stack.removeStorage(store)
    }

    @Test func aStoreIsMigratedWhenItIsAdded() async throws {
        try fill(SQLiteStore(path: scratch("shop.db")))
        let v1 = try DataStack(V1.Person.self, V1.Note.self, version: "V1").schema
        let v2 = try DataStack(V2.Person.self, V2.Note.self, version: "V2").schema
        let store = SQLiteStore(path: scratch("shop.db"))
        var history = try SchemaHistory(v1, v2, migrationChain: ["V1", "V2"], models: [V2.Person.self, V2.Note.self])
        history.acceptedLosses = ["Person.firstName", "Person.lastName", "Person.isVeryOldAccount", "Note.mail"]  // see below
        let stack = try DataStack(schemaHistory: history)
        for step in try stack.requiredMigrations(for: store) { print(step, step.objectCount, step.losses) }  // changes nothing
        try await stack.addStorage(store)
        #expect(printed == [#""V1" → "V2" (lightweight) 3 []"#])
        #expect(try stack.fetchAll(From<V2.Note>()).map(\.body) == ["Tea"])
    }

    @Test func aMappingDecidesWhatIsCopied() async throws {
        try fill(SQLiteStore(path: scratch("shop.db")))
        let history = try history()
        let mapping = CustomSchemaMappingProvider(
            from: "V1", to: "V2",
            entityMappings: [
                .deleteEntity(sourceEntity: "Note"),
                .transformEntity(sourceEntity: "Person", destinationEntity: "Person") { source, create in
                    if source["isVeryOldAccount"] as? Bool == true { return }  // left behind
                    let person = create()
                    person.copyAttributes(from: source)
                    person["fullName"] = "\(source["firstName"] ?? "") \(source["lastName"] ?? "")"
                },
            ])
        let store = SQLiteStore(path: scratch("shop.db"), migrationMappingProviders: [mapping])
        let stack = try DataStack(schemaHistory: history)
        try await stack.addStorage(store)
        #expect(try stack.fetchAll(From<V2.Person>()).map(\.fullName) == ["Ann Lee"])
        #expect(try stack.fetchCount(From<V2.Note>()) == 0)
    }

    @Test(.enabled(if: TestStore.server != nil, "POLYSTORE_TEST_POSTGRES names no server"))
    func programsOfBothVersionsWork() throws {
        let v1 = try DataStack(V1.Note.self, version: "V1")
        try v1.addStorageAndWait(PostgreSQLStore(conninfo: scratch("dbname=shop")))
        try v1.perform(synchronous: { try $0.create(V1.Note.self).text = "Tea" })
        let newer = try DataStack(V2.Note.self, version: "V2").schema
        let history = try SchemaHistory(v1.schema, newer, migrationChain: ["V1", "V2"], models: [V2.Note.self])
        let progress = MigrationProgress()
        let store = try OpenStore(opening: PostgreSQLStore(conninfo: scratch("dbname=shop")), OpenRequest(schema: nil))
        let step = try RollingMigration(store)
        try step.expand(to: history)
        try step.backfill(BackfillPace(batchSize: 1000, pause: 0.02), progress: progress)
        #expect(try v1.fetchAll(From<V1.Note>()).map(\.text) == ["Tea"])
        // Programs of the new version start, and those of the old one stop.
        try step.contract(acceptingLosses: ["Note.mail"])
        let stack = try DataStack(schemaHistory: history)
        try stack.addStorageAndWait(PostgreSQLStore(conninfo: scratch("dbname=shop")))
        #expect(try stack.fetchAll(From<V2.Note>()).map(\.body) == ["Tea"])
    }

    @Test func aMigrationReportsItsProgress() async throws {
        try fill(SQLiteStore(path: scratch("shop.db")))
        var history = try history()
        history.acceptedLosses = ["Note.mail"]
        history.acceptedLosses.formUnion(["Person.firstName", "Person.lastName", "Person.isVeryOldAccount"])
        let stack = try DataStack(schemaHistory: history), store = SQLiteStore(path: scratch("shop.db"))
        let queue = DispatchQueue(label: "progress")
        let progress = MigrationProgress()
        progress.setProgressHandler(on: queue) { progress in
            print(progress.localizedDescription, progress.localizedAdditionalDescription)  // 50% completed 0 of 2
        }
        try await stack.addStorage(store, progress: progress)
        #expect(progress.fractionCompleted == 1)
    }
}
#endif

import Foundation
import Polystore
import PolystoreCatalog
import PolystoreStorage
import PolystoreTransfer
import RawSessions
import TestStores
import Testing

/// Databases of other programs, read and written where they lie, with the other program as the witness.
@Suite struct InPlaceTests {
    @Test(arguments: InPlaceEngine.available) func everyValueIsReadExactly(_ engine: InPlaceEngine) throws {
        let shop = try InPlaceDatabase(engine)
        #expect(try OpenDatabase(shop.url).lines() == InPlaceScript.lines)
    }

    @Test(arguments: InPlaceEngine.available) func objectsBecomeOrdinaryRows(_ engine: InPlaceEngine) throws {
        let shop = try InPlaceDatabase(engine), stack = try shop.stack()
        try stack.perform(synchronous: { transaction in
            let customer = try transaction.make(
                "customer",
                [
                    "name": .string("Bob"), "email": .string("b@x"), "is_active": .bool(true),
                    "joined": try #require(ValueText.value("2022-03-04T00:00:00Z", as: .date)),
                ], ["country_code": try transaction.object("country", 1)])
            let order = try transaction.make(
                "order", ["placed_at": try #require(ValueText.value("2022-03-04T05:06:07.5Z", as: .date))], ["customer": customer])
            _ = try transaction.make(
                "order_line", ["line": .int(1), "quantity": .int(2)],
                ["order": order, "product": try transaction.object("product", 11)])
            try transaction.object("product", 11).setValue(try #require(ValueText.value("8.25", as: .decimal)), for: "price")
        })
        #expect(try shop.sql("SELECT id, name, email, country_code, joined FROM customer WHERE id > 2") == ["3|Bob|b@x|AT|2022-03-04"])
        #expect(
            try shop.sql("SELECT id, customer_id, placed_at, note IS NULL FROM \"order\" WHERE id > 6").first?.hasPrefix(
                "7|3|2022-03-04 05:06:07.5|") == true)
        #expect(try shop.sql("SELECT id, order_id, line, product_id, quantity FROM order_line WHERE id > 3") == ["4|7|1|11|2"])
        #expect(try shop.sql("SELECT price FROM product WHERE id = 11") == ["8.25"])
    }

    @Test(arguments: InPlaceEngine.available) func rowsOfTheOtherProgramAreObjectsAtOnce(_ engine: InPlaceEngine) throws {
        let shop = try InPlaceDatabase(engine), stack = try shop.stack()
        #expect(try stack.fetchAll(From<DynamicObject>(entity: "customer")).count == 2)
        try shop.sql("INSERT INTO customer(id, name, country_code) VALUES(7, 'Eve', 'AT'); INSERT INTO product_category VALUES(11, 1);")
        let eve = try stack.object("customer", 7)
        #expect(try eve.value("name") == .string("Eve"))
        #expect(try (eve.object("country_code") as? DynamicObject)?.value("name") == .string("Austria"))
        #expect(try stack.object("product", 11).objects("category").count == 2)
    }

    @Test(arguments: InPlaceEngine.available) func pairsAreRowsOfTheJoinTable(_ engine: InPlaceEngine) throws {
        let shop = try InPlaceDatabase(engine), stack = try shop.stack()
        try stack.perform(synchronous: { transaction in
            let product = try transaction.object("product", 11), tools = try transaction.object("category", 2)
            let new = try transaction.make("category", ["name": .string("new")], ["parent": tools])
            try product.setObjects([new, try transaction.object("category", 1)], for: "category")
        })
        #expect(
            try shop.sql("SELECT product_id, category_id FROM product_category ORDER BY 1, 2") == ["10|1", "10|2", "11|1", "11|3"])
        #expect(try shop.sql("SELECT parent_id FROM category WHERE id = 3") == ["2"])
    }

    // MARK: Conflicts

    @Test(arguments: InPlaceEngine.available) func aChangeOfTheOtherProgramIsAConflict(_ engine: InPlaceEngine) throws {
        let shop = try InPlaceDatabase(engine), stack = try shop.stack()
        let work = stack.beginUnsafe()
        let product = try #require(try work.edit(try stack.object("product", 11)))
        try product.setValue(.string("new"), for: "status")
        try shop.sql("UPDATE product SET price = 9 WHERE id = 11")
        let refused = failure { try work.commit() }
        #expect(refused?.code == .staleObject)
        #expect(refused?.details.conflicts.first?.theirs?["price"] == .decimal(9))
        #expect(try shop.sql("SELECT status, price FROM product WHERE id = 11").first?.hasPrefix("sold|9") == true)
        try work.commit(merging: .mine)
        #expect(try shop.sql("SELECT status, price FROM product WHERE id = 11").first?.hasPrefix("new|9") == true)
    }

    @Test(arguments: InPlaceEngine.available) func aRowThatWasDeletedAndInsertedAgainIsAConflictToo(_ engine: InPlaceEngine) throws {
        let shop = try InPlaceDatabase(engine), stack = try shop.stack()
        let work = stack.beginUnsafe()
        try #require(try work.edit(try stack.object("shipment", 1))).setObject(nil, for: "line")
        try shop.sql("DELETE FROM shipment WHERE id = 1; INSERT INTO shipment(id, line_id) VALUES(1, 3);")
        #expect(failure { try work.commit() }?.code == .staleObject)
        let other = stack.beginUnsafe()
        try other.delete(try stack.object("shipment", 1))
        try shop.sql("DELETE FROM shipment")
        #expect(failure { try other.commit() }?.code == .staleObject)
    }

    @Test(arguments: InPlaceEngine.available) func anObjectCanBeChangedAgainAndAgain(_ engine: InPlaceEngine) throws {
        let shop = try InPlaceDatabase(engine), stack = try shop.stack()
        let work = stack.beginUnsafe()
        let category = try #require(try work.edit(try stack.object("category", 2)))
        for name in ["a", "b", "c"] {
            try category.setValue(.string(name), for: "name")
            try work.commit()
        }
        // Its parent goes: the engine clears the reference, and so do we; together that is one change.
        try work.delete(try #require(try work.edit(try stack.object("category", 1))))
        try work.commit()
        try category.setValue(.string("d"), for: "name")
        try work.commit()
        #expect(try shop.sql("SELECT name, parent_id IS NULL FROM category WHERE id = 2").first?.hasPrefix("d|") == true)
        #expect(try OpenDatabase(shop.url).lines().contains { $0.hasPrefix(#"{"entity":"category","key":2,"version":6,"#) })
    }

    // MARK: Rules of the database

    @Test(arguments: InPlaceEngine.available) func aUniqueKeyIsKeptAndNothingIsHalfDone(_ engine: InPlaceEngine) throws {
        let shop = try InPlaceDatabase(engine), stack = try shop.stack()
        let refused = failure {
            try stack.perform(synchronous: { transaction in
                try transaction.object("customer", 1).setValue(.string("Adele"), for: "name")
                _ = try transaction.make("customer", ["name": .string("Other"), "email": .string("a@x"), "is_active": .bool(true)])
            })
        }
        #expect(refused?.code == .uniqueConstraintViolated)
        #expect(refused?.details.entity == "customer")
        #expect(refused?.details.constraint == "customer(email)")
        #expect(try shop.sql("SELECT id, name FROM customer ORDER BY id") == ["1|Ada", "2|Zoë"])
        // What is free again within the transaction is free.
        try stack.perform(synchronous: { transaction in
            try transaction.object("customer", 1).setValue(.string("z@x"), for: "email")
            try transaction.object("customer", 2).setValue(.string("a@x"), for: "email")
        })
        #expect(try shop.sql("SELECT email FROM customer ORDER BY id") == ["z@x", "a@x"])
    }

    @Test(arguments: InPlaceEngine.available) func conditionsOfTheTableAreTypedErrors(_ engine: InPlaceEngine) throws {
        let shop = try InPlaceDatabase(engine), stack = try shop.stack()
        // No rule of an attribute says what the last condition of the table says.
        let refused = failure {
            try stack.perform(synchronous: { transaction in
                let product = try transaction.object("product", 10)
                try product.setValue(.double(-1), for: "weight")
                try product.setValue(.decimal(0), for: "price")
            })
        }
        #expect(refused?.code == .validationFailed)
        #expect(refused?.details.entity == "product")
        #expect(try shop.sql("SELECT price, weight FROM product WHERE id = 10") == ["19.99|1.5"])
    }

    @Test(arguments: InPlaceEngine.available) func anObjectReferencedByANewRowIsNotDeleted(_ engine: InPlaceEngine) throws {
        let shop = try InPlaceDatabase(engine), stack = try shop.stack()
        let work = stack.beginUnsafe()
        let country = try #require(try work.edit(try stack.object("country", 1)))
        #expect(try country.objects("customer").isEmpty)
        try work.delete(country)
        try shop.sql("UPDATE customer SET country_code = 'AT' WHERE id = 2")
        #expect(failure { try work.commit() }?.code == .staleObject)
        #expect(try shop.sql("SELECT count(*) FROM country") == ["2"])
    }

    @Test(arguments: InPlaceEngine.available) func deletingFollowsTheRulesOfTheReferences(_ engine: InPlaceEngine) throws {
        let shop = try InPlaceDatabase(engine), stack = try shop.stack()
        #expect(failure { try stack.perform(synchronous: { try $0.delete($0.object("product", 10)) }) }?.code == .deleteDenied)
        #expect(failure { try stack.perform(synchronous: { try $0.delete($0.object("customer", 1)) }) }?.code == .deleteDenied)
        // Lines go with their order, the shipment of one stays without it.
        try stack.perform(synchronous: { try $0.delete($0.object("order", 5)) })
        #expect(try shop.sql("SELECT id FROM order_line") == ["3"])
        #expect(try shop.sql("SELECT count(*), count(line_id) FROM shipment") == ["1|0"])
        // A profile goes with its customer, pairs go with their product.
        try stack.perform(synchronous: { transaction in
            try transaction.delete(transaction.object("customer", 2))
            try transaction.delete(transaction.object("product", 11))
        })
        #expect(try shop.sql("SELECT (SELECT count(*) FROM profile), (SELECT count(*) FROM product_category)") == ["0|2"])
    }

    @Test(arguments: InPlaceEngine.available) func aTransactionThatThrowsLeavesNothing(_ engine: InPlaceEngine) throws {
        struct Stop: Error {}
        let shop = try InPlaceDatabase(engine), stack = try shop.stack()
        try? stack.perform(synchronous: { transaction in
            _ = try transaction.make("country", ["code": .string("FR"), "name": .string("France")])
            _ = try transaction.fetchAll(From<DynamicObject>(entity: "country"))
            throw Stop()
        })
        #expect(try shop.sql("SELECT count(*) FROM country") == ["2"])
        #expect(try OpenDatabase(shop.url).lines() == InPlaceScript.lines)
    }

    // MARK: Keys

    @Test(arguments: InPlaceEngine.available) func keysAreThoseThatTheDatabaseWouldGive(_ engine: InPlaceEngine) throws {
        let shop = try InPlaceDatabase(engine), stack = try shop.stack()
        func add() throws -> Int64 {
            try stack.perform(synchronous: { transaction in
                try transaction.make("country", ["code": .string(UUID().uuidString), "name": .string("x")]).objectID.key.key
            })
        }
        #expect(try add() == 3)
        try shop.sql("INSERT INTO country(code, name) VALUES('FR', 'France')")
        #expect(try add() == 5)
        // The key of a row that is gone belongs to that row.
        try shop.sql("DELETE FROM country WHERE id = 5")
        #expect(try add() == 6)
        #expect(try shop.sql("SELECT id FROM country ORDER BY id") == ["1", "2", "3", "4", "6"])
    }

    @Test(arguments: InPlaceEngine.available) func detachedTransactionsReserveUniqueKeys(_ engine: InPlaceEngine) throws {
        let shop = try InPlaceDatabase(engine), stack = try shop.stack(), work = stack.beginUnsafe()
        let order = try work.create(Into<DynamicObject>(entity: "order"))
        try order.setValue(.date(0), for: "placed_at")
        try order.setObject(try work.edit(try stack.object("customer", 1)), for: "customer")
        try shop.sql("INSERT INTO \"order\"(customer_id, placed_at) VALUES(1, '2020-01-01')")
        try stack.perform(synchronous: { transaction in
            _ = try transaction.make("order", ["placed_at": .date(0)], ["customer": try transaction.object("customer", 1)])
        })
        try work.commit()
        #expect(try shop.sql("SELECT count(*), count(DISTINCT id) FROM \"order\"") == ["5|5"])
    }

    @Test(arguments: InPlaceEngine.available) func aReferenceThatIsTheKeyIsNotChanged(_ engine: InPlaceEngine) throws {
        let shop = try InPlaceDatabase(engine), stack = try shop.stack()
        let refused = failure {
            try stack.perform(synchronous: { transaction in
                _ = try transaction.make("profile", ["motto": .string("x")], ["customer": try transaction.object("customer", 1)])
            })
        }
        #expect(refused?.code == .unsupported)
        #expect(refused?.message.hasPrefix("the primary key of profile is also its reference customer") == true)
        try stack.perform(synchronous: { try $0.object("profile", 2).setValue(.string("stay"), for: "motto") })
        #expect(try shop.sql("SELECT customer_id, motto FROM profile") == ["2|stay"])
    }

    // MARK: History

    @Test(arguments: InPlaceEngine.available) func theHistoryHasTheChangesOfBothPrograms(_ engine: InPlaceEngine) throws {
        let shop = try InPlaceDatabase(engine), stack = try shop.stack(), open = try OpenDatabase(shop.url)
        /// A server tells a change when everything that began before it has ended.
        func history(_ token: HistoryToken?, changes: Int) throws -> [HistoryEntry] {
            for _ in 0..<600 {
                let reader = try open.store.beginRead(), found = try reader.history(since: token, limit: 100)
                reader.end()
                if found.reduce(0, { $0 + $1.changes.count }) >= changes { return found }
                Thread.sleep(forTimeInterval: 0.05)
            }
            return []
        }
        #expect(try history(nil, changes: 0).isEmpty)
        try stack.perform(synchronous: { transaction in
            try transaction.object("customer", 1).setValue(.string("Adele"), for: "name")
            _ = try transaction.make("country", ["code": .string("FR"), "name": .string("France")])
            try transaction.object("product", 11).setObjects([try transaction.object("category", 1)], for: "category")
        })
        let own = try history(nil, changes: 4)
        try #require(own.count == 1)
        let schema = open.schema, customer = try #require(schema.index(of: "customer")), country = try #require(schema.index(of: "country"))
        var name = SlotMask()
        name.insert(try #require(schema[customer].slots.firstIndex { $0.name == "name" }))
        let changes = Set(own[0].changes)
        #expect(changes.contains(HistoryChange(entity: customer, key: 1, kind: .update(name))))
        #expect(changes.contains(HistoryChange(entity: country, key: 3, kind: .insert)))
        #expect(changes.contains(HistoryChange(entity: try #require(schema.index(of: "category")), key: 1, kind: .links(0))))
        #expect(changes.contains(HistoryChange(entity: try #require(schema.index(of: "category")), key: 2, kind: .links(0))))
        try shop.sql("UPDATE customer SET name = 'Eva' WHERE id = 2; DELETE FROM country WHERE id = 3;")
        let theirs = try history(own[0].token, changes: 2).flatMap { Array($0.changes) }
        #expect(theirs.map(\.entity) == [customer, country])
        #expect(theirs.map(\.key) == [2, 3])
        #expect(theirs.last?.kind == .delete)
    }

    @Test(arguments: InPlaceEngine.available) func aListReceivesChangesOfThisProcess(_ engine: InPlaceEngine) throws {
        final class Calls: ListObjectObserver {
            var calls: [String] = []
            func listMonitorDidChange(_ monitor: ListMonitor<DynamicObject>) { calls.append("did") }
            func listMonitorDidRefetch(_ monitor: ListMonitor<DynamicObject>) { calls.append("refetch") }
            func listMonitor(_ monitor: ListMonitor<DynamicObject>, didInsertObject object: DynamicObject, toIndexPath indexPath: IndexPath)
            {
                calls.append("insert")
            }
            func listMonitor(_ monitor: ListMonitor<DynamicObject>, didUpdateObject object: DynamicObject, atIndexPath indexPath: IndexPath)
            {
                calls.append("update \(indexPath[1])")
            }
        }
        let shop = try InPlaceDatabase(engine), stack = try shop.stack(), view = stack.makeViewContext(), calls = Calls()
        let monitor = try view.monitorList(From<DynamicObject>(entity: "customer")), count = monitor.numberOfObjects
        let countries = try view.monitorList(From<DynamicObject>(entity: "country"))
        monitor.addObserver(calls)
        countries.addObserver(calls)
        /// The log has more between two commits than their numbers tell, so it is looked into before they are told.
        func wait(for count: Int) throws {
            for _ in 0..<5_000 where calls.calls.count < count {
                try view.merge()
                Thread.sleep(forTimeInterval: 0.001)
            }
        }
        try stack.perform(synchronous: { try $0.object("customer", 1).setValue(.string("Adele"), for: "name") })
        try wait(for: 2)
        _ = try stack.perform(synchronous: { try $0.make("country", ["code": .string("FR"), "name": .string("France")]) })
        try wait(for: 4)
        #expect(calls.calls == ["update 0", "did", "insert", "did"] && monitor.numberOfObjects == count)
    }

    // MARK: Opening

    @Test func unfitTablesAreAllNamedWithTheWayOut() throws {
        let database = try InPlaceDatabase(
            .sqlite, "CREATE TABLE carrier(name TEXT, number INT); CREATE TABLE b(x TEXT, y TEXT, PRIMARY KEY(x, y));")
        let refused = failure { _ = try OpenDatabase(database.url) }
        #expect(refused?.code == .unsupported)
        #expect(
            refused?.message == """
                the database has tables that cannot be used in place: b: it has a primary key of several columns (x, y); carrier: it has no \
                primary key. What to do: give each such table an integer primary key of one column, as in: PRAGMA foreign_keys = OFF; \
                PRAGMA legacy_alter_table = ON; BEGIN; CREATE TABLE "new_b"("id" INTEGER PRIMARY KEY, x TEXT NOT NULL, y TEXT NOT NULL, UNIQUE(x, y)); \
                INSERT INTO "new_b"("x", "y") SELECT "x", "y" FROM "b"; DROP TABLE "b"; ALTER TABLE "new_b" RENAME TO "b"; COMMIT; Or open \
                the database with catalog=foreign, which reads it, and transfer it to a Polystore store (polystore transfer FROM TO)
                """)
    }

    @Test(arguments: InPlaceEngine.available) func twoStoresWriteSideBySide(_ engine: InPlaceEngine) throws {
        let shop = try InPlaceDatabase(engine), first = try shop.stack(), second = try shop.stack()
        for (index, stack) in [first, second, first, second].enumerated() {
            try stack.perform(synchronous: { transaction in
                _ = try transaction.make("country", ["code": .string("X\(index)"), "name": .string("x")])
            })
        }
        #expect(try shop.sql("SELECT id, code FROM country WHERE id > 2 ORDER BY id") == ["3|X0", "4|X1", "5|X2", "6|X3"])
        #expect(try first.fetchAll(From<DynamicObject>(entity: "country")).count == 6)
        #expect(try OpenDatabase(shop.url(catalog: "foreign")).keys("country", "code BEGINSWITH 'X'") == [3, 4, 5, 6])
    }

    @Test(arguments: InPlaceEngine.available) func additionalTablesCanBeRemoved(_ engine: InPlaceEngine) throws {
        let shop = try InPlaceDatabase(engine), before = try shop.objects()
        let store = try StoreCatalog.standard.store(at: StoreURL(shop.url))
        _ = try store.open(OpenRequest(schema: nil))
        #expect(try shop.objects() != before)
        try store.erase()
        #expect(try shop.objects() == before)
        #expect(try OpenDatabase(shop.url(catalog: "foreign")).lines() == InPlaceScript.lines)
    }

    @Test(arguments: InPlaceEngine.available) func aChangedTableIsASchemaMismatchThatNamesTheModel(_ engine: InPlaceEngine) throws {
        let shop = try InPlaceDatabase(engine), stack = try shop.stack(), old = try OpenDatabase(shop.url).schema
        try shop.sql("ALTER TABLE country DROP COLUMN name; ALTER TABLE customer ADD COLUMN phone TEXT;")
        #expect(failure { _ = try stack.fetchAll(From<DynamicObject>(entity: "country")) }?.code == .schemaMismatch)
        let store = try StoreCatalog.standard.store(at: StoreURL(shop.url))
        let refused = failure { _ = try store.open(OpenRequest(schema: old)) }
        #expect(refused?.code == .schemaMismatch)
        #expect(refused?.message.contains("country.name") == true, "\(refused?.message ?? "")")
        let stale = failure {
            try DataStack(schema: old).addStorageAndWait(try StoreCatalog.standard.store(at: StoreURL(shop.url)))
        }
        #expect([.schemaMismatch, .unsupported].contains(stale?.code), "\(stale?.description ?? "")")
        let anew = try shop.stack()
        try anew.perform(synchronous: { try $0.object("customer", 1).setValue(.string("1"), for: "phone") })
        #expect(try shop.sql("SELECT phone FROM customer WHERE id = 1") == ["1"])
    }

    @Test(arguments: InPlaceEngine.available) func migrationsAreRefused(_ engine: InPlaceEngine) throws {
        let shop = try InPlaceDatabase(engine), open = try OpenDatabase(shop.url)
        var entities = open.schema.entities
        entities[0].attributes.append(Attribute("extra", .string, isOptional: true))
        let next = try Schema(entities: entities)
        let step = MigrationStep(SchemaMapping(from: open.schema, to: next))
        #expect(failure { _ = try open.store.beginMigration(step, WriteOptions()) }?.code == .unsupported)
        #expect(failure { _ = try open.store.explanation(of: step) }?.message.contains("the program that owns them") == true)
        #expect(!open.store.capabilities.contains(.migrations))
    }

    @Test(arguments: InPlaceEngine.available) func aModelThatDiffersIsRefusedWithWhoCanChangeTheTables(_ engine: InPlaceEngine) throws {
        let shop = try InPlaceDatabase(engine)
        for url in [shop.url, shop.url(catalog: "foreign")] {
            var entities = try OpenDatabase(url).schema.entities
            entities[0].attributes.append(Attribute("extra", .string, isOptional: true))
            let stack = try DataStack(schema: Schema(entities: entities))
            let refused = failure { try stack.addStorageAndWait(try StoreCatalog.standard.store(at: StoreURL(url))) }
            #expect(refused?.code == .schemaMismatch, "\(url)")
            #expect(refused?.message.hasSuffix("tables of another program are changed by the program that owns them") == true)
            #expect(refused?.message.contains("ynchronousLightweightMigration") == false)
        }
    }

    // MARK: Moving

    @Test(arguments: InPlaceEngine.available) func itIsASourceAndATargetOfTransfers(_ engine: InPlaceEngine) throws {
        let shop = try InPlaceDatabase(engine), open = try OpenDatabase(shop.url)
        let copy = try open.transferred(to: TestStore.memory.make())
        #expect(try copy.lines() == InPlaceScript.lines)
        // A database of the same tables without rows takes all of it, where its engine does not check references with each statement.
        let script = InPlaceScript.script(engine).components(separatedBy: "INSERT INTO")[0]
        let empty = try InPlaceDatabase(engine, script), target = try OpenDatabase(empty.url)
        func transfer() throws { _ = try TransferEngine().transfer(from: copy.store, to: target.store) }
        switch engine {
        case .sqlite:
            try transfer()
            #expect(try target.digests() == open.digests())
            #expect(try empty.sql("SELECT id, name FROM customer ORDER BY id") == ["1|Ada", "2|Zoë"])
            let reader = try target.store.beginRead()
            defer { reader.end() }
            #expect(try reader.history(since: nil, limit: 10).isEmpty)
        case .postgresql:
            // Rows of an earlier table refer to rows of a later one, and nothing is kept.
            #expect(failure { try transfer() }?.code == .validationFailed)
            #expect(try target.lines().isEmpty)
        }
    }

    @Test(arguments: InPlaceEngine.available) func theKeyAndItsIndexFindARow(_ engine: InPlaceEngine) throws {
        let shop = try InPlaceDatabase(engine), open = try OpenDatabase(shop.url), reader = try open.store.beginRead()
        defer { reader.end() }
        let plan = try ObjectRequest("order_line", where: QueryPredicate(parsing: "SELF == 3")).plan(in: open.schema)
        let lines = try reader.explanation(of: plan).joined(separator: "\n")
        #expect(!lines.contains("SCAN") && !lines.contains("Seq Scan on order_line"), "\(lines)")
    }

    @Test(arguments: InPlaceEngine.available) func aRefusedSchemaLeavesNothingInTheDatabase(_ engine: InPlaceEngine) throws {
        let shop = try InPlaceDatabase(engine), before = try shop.objects()
        let store = try StoreCatalog.standard.store(at: StoreURL(shop.url)), other = try Schema(entities: [Entity("customer")])
        #expect(failure { _ = try OpenDatabase(store, other) }?.code == .schemaMismatch)
        #expect(try shop.objects() == before)
    }

    /// The owner of a database creates and drops indexes: the model of a program does not depend on them, whether it has some or none.
    @Test(arguments: InPlaceEngine.available, ["foreign", "inplace"])
    func indexesOfTheOwnerDoNotMatter(_ engine: InPlaceEngine, _ catalog: String) throws {
        let database = try InPlaceDatabase(
            engine, "CREATE TABLE page(id INTEGER PRIMARY KEY, url TEXT, rank INTEGER); INSERT INTO page VALUES (1, 'a', 2);")
        func add(_ schema: Schema) throws -> DataStack {
            let stack = try DataStack(schema: schema)
            try stack.addStorageAndWait(try StoreCatalog.standard.store(at: StoreURL(database.url(catalog: catalog))))
            return stack
        }
        let before = try OpenDatabase(database.url(catalog: "foreign"))
        before.close()
        #expect(before.schema.entity("page")?.indexes == [])
        let url = engine == .sqlite ? "url" : "md5(url)"
        try database.sql("CREATE INDEX z ON page(rank); CREATE INDEX a ON page(\(url));")
        let after = try OpenDatabase(database.url(catalog: "foreign"))
        after.close()
        #expect(after.schema.entity("page")?.indexes.contains(Index(["rank"])) == true)
        // The identity of a file depends on all of its definitions.
        if engine == .postgresql { #expect(after.id == before.id) }
        // Requests would use these, and the database does not have them.
        for index in [Index(["url"], kind: .fullText), Index(["url"], where: "rank > 1")] {
            var entities = before.schema.entities
            entities[0].indexes = [index]
            let refused = try Schema(entities: entities)
            #expect(failure { _ = try add(refused) }?.code == .schemaMismatch)
        }
        for schema in [before.schema, after.schema] {
            let stack = try add(schema)
            let found = try stack.fetchAll(From<DynamicObject>(entity: "page").where(Where(format: "rank == 2")))
            #expect(try found.map { try $0.value("url") } == [.string("a")])
            if catalog == "inplace", schema.hash == before.schema.hash {
                // The index of the owner takes it.
                try stack.perform(synchronous: { transaction in
                    let page = try transaction.create(Into<DynamicObject>(entity: "page"))
                    try page.setValue(.string(String(repeating: "x", count: 2000)), for: "url")
                })
                #expect(try database.sql("SELECT max(length(url)) FROM page") == ["2000"])
                try database.sql("DELETE FROM page WHERE rank IS NULL")
            }
            for storage in stack.storages { try stack.removeStorage(storage) }
        }
    }
}

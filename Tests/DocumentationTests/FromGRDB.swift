#if Macros
import Foundation
import Polystore
import PolystoreInMemory
import PolystoreMacros
import PolystoreSQLite
import Testing

/// The samples of the guide for users of GRDB.
enum FromGRDB {
    @Model final class Station: ManagedObject {
        @Attribute(.unique) var code: String
        var name: String = ""
        @Relationship(inverse: \Reading.station, deleteRule: .cascade) var readings: Set<Reading>
    }

    @Model(indexes: [Index(["time"])]) final class Reading: ManagedObject {
        var time: Date = .now
        var celsius: Double = 0
        var note: String?
        @Relationship var station: Station?
    }
}

extension FromGRDB {
    struct Warmest: Equatable {
        var station: String?
        var celsius: Double?
    }

    @Suite struct Samples {
        @Test func aDatabaseIsOpenedWrittenAndRead() async throws {
            let path = temporaryPath()
            let stack = try DataStack(Station.self, Reading.self)
            try await stack.addStorage(SQLiteStore(path: path))
            try await stack.perform { transaction in
                let oslo = try transaction.create(Station.self)
                oslo.code = "OSL"
                let reading = try transaction.create(Reading.self)
                reading.celsius = -2
                reading.station = oslo
            }
            let coldest = try await stack.read { source in
                try source.fetchOne(From<Reading>().orderBy(.ascending(\.celsius)))?.celsius
            }
            defer { for store in stack.storages { try? store.erase() } }
            #expect(coldest == -2)
        }

        @Test func requestsCountRelatedRows() throws {
            let stack = try filled()
            let busy = try stack.fetchAll(
                From<Station>().where((\Station.readings).count(where: \.celsius > 0) >= 2)
                    .orderBy(\.code).prefetch(\.readings))
            let counts = try stack.queryTuples(
                From<Station>().orderBy(\.code).tuples(ValueExpression(\Station.code), (\Station.readings).count))
            let warmest = try stack.queryAttributes(
                From<Reading>().select(.attribute(\.station?.code, as: "code"), .maximum(\.celsius, as: "celsius"))
                    .groupBy(\.station?.code).having(.count() > 1))
            let values = try warmest.map { Warmest(station: try $0.value("code"), celsius: try $0.value("celsius")) }
            #expect(busy.map(\.readings.count) == [3, 2])
            #expect(counts.map { "\($0.0) \($0.1)" } == ["OSL 3", "ROM 2"])
            #expect(
                values.sorted { ($0.celsius ?? 0) < ($1.celsius ?? 0) }
                    == [Warmest(station: "OSL", celsius: 7), Warmest(station: "ROM", celsius: 22.5)])
        }

        @Test func savepointsRollBackAPart() async throws {
            let stack = try filled()
            let deleted = try await stack.perform { transaction in
                try? transaction.nested {
                    try transaction.deleteAll(From<Station>())
                    throw CancellationError()
                }
                return try transaction.deleteAll(From<Reading>().where(\.celsius < 0))
            }
            #expect(deleted == 1)
            #expect(try stack.fetchCount(From<Station>()) == 2)
        }

        @Test func sqlNamesTablesAndColumns() async throws {
            let path = temporaryPath()
            let stack = try filled(SQLiteStore(path: path))
            let limit = 5.0
            let rows = try stack.queryRows(
                """
                SELECT \(column: \Reading.celsius) AS celsius,
                    avg(\(column: \Reading.celsius)) OVER () AS mean
                FROM \(table: Reading.self) WHERE \(column: \Reading.celsius) > \(limit) ORDER BY celsius
                """)
            let mean = try rows.first?.value("mean", as: Double.self)
            let any = try stack.fetchAll(
                From<Reading>(), sql: "SELECT \(column: \Reading.self) FROM \(table: Reading.self) ORDER BY random() LIMIT 2")
            try await stack.perform { transaction in
                try transaction.execute("UPDATE \(table: Reading.self) SET \(column: \Reading.note) = \("checked")")
            }
            defer { for store in stack.storages { try? store.erase() } }
            #expect(rows.count == 3 && mean == (7 + 15 + 22.5) / 3 && any.count == 2)
            #expect(try stack.fetchCount(From<Reading>().where(\.note == "checked")) == 5)
        }

        @Test func aValueIsObserved() async throws {
            let stack = try filled()
            let frost = try stack.publishValue(of: Reading.self) { source in
                try source.fetchCount(From<Reading>().where(\.celsius < 0))
            }
            async let added: Void = stack.perform { try $0.create(Reading.self).celsius = -8 }
            for await count in frost.values where count == 2 {
                print("cold")
                break
            }
            try await added
            #expect(frost.value == 2)
        }

        @Test func anUpsertIsOneStatement() async throws {
            let stack = try filled()
            let names = ["OSL": "Oslo", "RIX": "Riga"]
            let inserted = try await stack.perform { transaction in
                let stations = try transaction.upsertAll(Into<Station>(), on: \.code, sources: names) { station, source in
                    station.code = source.key
                    station.name = source.value
                }
                return stations.filter(\.isInserted).count
            }
            #expect(inserted == 1)
            #expect(try stack.fetchAll(From<Station>().orderBy(\.code)).map(\.name) == ["Oslo", "Riga", "Rom"])
        }

        @Test func nilDiffersFromEveryValueAndMemoryRefusesSQL() throws {
            let stack = try filled()
            // NULL is a value of its own.
            #expect(try stack.fetchCount(From<Reading>().where(\.note != "checked")) == 5)
            #expect(throws: StorageError.self) { try stack.queryRows("SELECT 1") }
        }

        private func filled(_ store: some StorageInterface = InMemoryStore()) throws -> DataStack {
            let stack = try DataStack(Station.self, Reading.self)
            try stack.addStorageAndWait(store)
            try stack.perform(synchronous: { transaction in
                for (code, values) in [("OSL", [4.5, 7, -2]), ("ROM", [15, 22.5])] {
                    let station = try transaction.create(Station.self)
                    (station.code, station.name) = (code, code.capitalized)
                    for value in values {
                        let reading = try transaction.create(Reading.self)
                        (reading.celsius, reading.station) = (value, station)
                    }
                }
            })
            return stack
        }
    }
}
#endif

import CFloor
import Foundation
import GRDB
import Polystore
import PolystoreCatalog

/// Ranges by an index, averages by group, and filtered and sorted fetches, over `count` sales in a thousand regions.
///
/// The C code reads the store's own file, or a copy of it, with a hand-written statement.
struct QueryBenchmark {
    let store: String
    let place: Places
    let count: Int
    let rounds: Int
    let report: (Measurement) -> Void

    /// One row. `number` is a permutation of the keys, so that its index order visits the whole table.
    private struct Values {
        let number: Int, region: String, amount: Double, at: Date, note: String?

        init(_ index: Int, of count: Int) {
            number = Int((UInt64(index) * 7_368_787) % UInt64(count))
            region = "region " + String(index * 31 % 1000)
            amount = Double(index * 13 % 100_003) / 7
            at = Date(timeIntervalSince1970: 1_700_000_000 + Double(index))
            note = index % 2 == 0 ? nil : "a note on sale " + String(index)
        }
    }

    private struct SaleRecord: FetchableRecord {
        let id: Int64, number: Int, twin: Int, serial: Int, region: String, amount: Double, at: Int64, note: String?

        init(row: Row) {
            (id, number, twin, serial, region) = (row[0], row[1], row[2], row[3], row[4])
            (amount, at, note) = (row[5], row[6], row[7])
        }
    }

    /// A range of one hundredth of the numbers.
    private var range: (low: Int, high: Int) { (count / 2, count / 2 + count / 100 - 1) }

    func run() throws {
        let url = try place.url(store)
        try withStack(url) { stack in
            try fill(stack)
            switch store {
            case "memory":
                try scans(stack)
                try averages(stack)
            case "lmdb": try scans(stack)
            case "sqlite":
                try sqlite(stack, String(url.dropFirst("sqlite:".count)))
                try besideGRDB(stack)
            default: break
            }
        }
        if store == "lmdb" { try averagesOfFile(url) }
    }

    private func withStack(_ url: String, _ body: (DataStack) throws -> Void) throws {
        let stack = try DataStack(Sale.self)
        let opened = try StoreCatalog.standard.store(at: StoreURL(url), configuration: nil)
        try stack.addStorageAndWait(opened)
        defer { try? stack.removeStorage(opened) }
        try body(stack)
    }

    private func fill(_ stack: DataStack) throws {
        for start in stride(from: 0, to: count, by: 100_000) {
            try stack.perform(synchronous: { transaction in
                for index in start..<min(start + 100_000, count) {
                    let values = Values(index, of: count), sale = try transaction.create(Sale.self)
                    (sale.number, sale.twin, sale.serial, sale.region) = (values.number, values.number, index, values.region)
                    (sale.amount, sale.at, sale.note) = (values.amount, values.at, values.note)
                }
            })
        }
    }

    private func objects(_ stack: DataStack, by path: ReferenceWritableKeyPath<Sale, Int>) throws -> Double {
        let wanted =
            path == \Sale.number
            ? From<Sale>().where(\Sale.number >= range.low && \Sale.number <= range.high)
            : From<Sale>().where(\Sale.twin >= range.low && \Sale.twin <= range.high)
        return try nanoseconds { if try stack.fetchAll(wanted).count != count / 100 { throw BenchmarkError.wrongAnswer } }
    }

    private func average(_ stack: DataStack) throws -> Double {
        let query = From<Sale>().select(.attribute(\Sale.region), .average(\Sale.amount, as: "mean")).groupBy(\.region)
        return try nanoseconds { if try stack.queryAttributes(query).count != 1000 { throw BenchmarkError.wrongAnswer } }
    }

    /// Compares a range by an index with the same range without one.
    private func scans(_ stack: DataStack) throws {
        var measurement = Measurement("range-by-index", store: store, against: "full scan", count: count / 100)
        try measurement.run(
            rounds: rounds, ours: { try objects(stack, by: \.number) }, theirs: { try objects(stack, by: \.twin) })
        report(measurement)
    }

    private func averages(_ stack: DataStack) throws {
        var texts: [UnsafeMutablePointer<CChar>] = []
        defer { for text in texts { free(text) } }
        var rows: [floor_sale] = []
        for index in 0..<count {
            let values = Values(index, of: count)
            guard let text = strdup(values.region) else { throw BenchmarkError.floorFailed(store) }
            texts.append(text)
            rows.append(
                floor_sale(
                    number: Int64(values.number), region: text, region_length: UInt32(values.region.utf8.count), amount: values.amount))
        }
        guard let block = floor_query_records(rows, Int64(count)) else { throw BenchmarkError.floorFailed(store) }
        defer { free(block) }
        for form in ["records", "structs"] {
            var measurement = Measurement("average-by-group", store: store, against: "c loop", count: count, form: form)
            try measurement.run(
                rounds: rounds, ours: { try average(stack) },
                theirs: {
                    try nanoseconds {
                        let groups = form == "records" ? floor_query_groups_records(block) : floor_query_groups(rows, Int64(count))
                        if groups != 1000 { throw BenchmarkError.wrongAnswer }
                    }
                })
            report(measurement)
        }
    }

    /// Measures averages in a copy of the file, because a process may open an LMDB file only once.
    private func averagesOfFile(_ url: String) throws {
        let file = String(url.dropFirst("lmdb:".count)), copy = place.file("copy.lmdb")
        try FileManager.default.copyItem(atPath: file, toPath: copy)
        try withStack(url) { stack in
            var measurement = Measurement("average-by-group", store: store, against: "c loop", count: count)
            try measurement.run(
                rounds: rounds, ours: { try average(stack) },
                theirs: { try nanoseconds { if floor_query_groups_lmdb(copy, 3, 4) != 1000 { throw BenchmarkError.wrongAnswer } } })
            report(measurement)
        }
    }

    private func sqlite(_ stack: DataStack, _ file: String) throws {
        guard let floor = floor_query_open(file) else { throw BenchmarkError.floorFailed(store) }
        defer { floor_sqlite_close(floor) }
        func rows(_ sql: String, _ expected: Int) throws -> Double {
            try nanoseconds {
                if floor_query_run(floor, sql, Int64(range.low), Int64(range.high)) != Int64(expected) { throw BenchmarkError.wrongAnswer }
            }
        }
        var ranges = Measurement("range-by-index", store: store, against: "c", count: count / 100)
        try ranges.run(
            rounds: rounds * 2, ours: { try objects(stack, by: \.number) },
            theirs: { try rows("SELECT * FROM \"Sale\" WHERE \"number\" BETWEEN ?1 AND ?2 ORDER BY \"_id\"", count / 100) })
        report(ranges)
        var averages = Measurement("average-by-group", store: store, against: "c", count: count)
        try averages.run(
            rounds: rounds, ours: { try average(stack) },
            theirs: { try rows("SELECT \"region\", avg(\"amount\") FROM \"Sale\" GROUP BY \"region\"", 1000) })
        report(averages)
    }

    private func besideGRDB(_ stack: DataStack) throws {
        var configuration = Configuration()
        configuration.prepareDatabase { db in try db.execute(sql: "PRAGMA page_size=8192; PRAGMA cache_size=-65536") }
        let pool = try DatabasePool(path: place.file("sales.db"), configuration: configuration)
        defer { try? pool.close() }
        try pool.write { db in
            try db.execute(
                sql: """
                    CREATE TABLE sale(id INTEGER PRIMARY KEY, number INTEGER, twin INTEGER, serial INTEGER, region TEXT, amount REAL, at INTEGER, note TEXT)
                    STRICT
                    """)
            try db.execute(sql: "CREATE INDEX sale_number ON sale(number); CREATE INDEX sale_serial ON sale(serial)")
            let statement = try db.makeStatement(sql: "INSERT INTO sale VALUES(?,?,?,?,?,?,?,?)")
            for index in 0..<count {
                let values = Values(index, of: count)
                let at = Int64(values.at.timeIntervalSince1970 * 1_000_000)
                try statement.execute(arguments: [
                    index, values.number, values.number, index, values.region, values.amount, at, values.note,
                ])
            }
        }
        let (low, high) = range
        for path in ["indexed", "clustered", "scanned"] {
            let column = ["indexed": "number", "clustered": "serial"][path] ?? "twin"
            var measurement = Measurement("filter-and-sort", store: store, against: "grdb", count: count / 100, form: path)
            let condition =
                switch path {
                case "indexed": \Sale.number >= low && \Sale.number <= high
                case "clustered": \Sale.serial >= low && \Sale.serial <= high
                default: \Sale.twin >= low && \Sale.twin <= high
                }
            try measurement.run(
                rounds: rounds * 2,
                ours: {
                    try nanoseconds {
                        let sales = try stack.fetchAll(From<Sale>().where(condition).orderBy(.ascending(\Sale.amount)))
                        if sales.count != count / 100 { throw BenchmarkError.wrongAnswer }
                    }
                },
                theirs: {
                    try nanoseconds {
                        let sql = "SELECT * FROM sale WHERE \(column) BETWEEN ? AND ? ORDER BY amount, id"
                        let sales = try pool.read { try SaleRecord.fetchAll($0, sql: sql, arguments: [low, high]) }
                        if sales.count != count / 100 { throw BenchmarkError.wrongAnswer }
                    }
                })
            report(measurement)
        }
    }
}

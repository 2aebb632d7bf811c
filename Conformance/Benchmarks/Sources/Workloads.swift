import Foundation
import GRDB
import Polystore

/// The workloads of one store, compared with its C floor. Each opens its own locations, so that no run uses the pages of another one.
struct Workloads {
    let store: String
    let floor: Floor?
    let place: Places
    let count: Int
    let rounds: Int
    /// The names of the workloads to run; nil for all.
    let wanted: Set<String>?
    let report: (Measurement) -> Void

    /// Runs all workloads of the store.
    func run() throws {
        let values = PersonValues.rows(count)
        let rows = FloorRows(values)
        if wants("create-commit") { try createAndCommit(values, rows) }
        if wants("bulk-insert") { try bulkInsert(values, rows) }
        if wants("fetch-objects") || wants("point-lookup") || wants("update-one-attribute") { try reads(values, rows) }
    }

    private var isBesideGRDB: Bool { store == "sqlite" || store == "memory" }

    private func wants(_ workload: String) -> Bool { wanted?.contains(workload) ?? true }

    /// Creates `count` objects and commits them in one transaction, including the release of the transaction.
    private func createAndCommit(_ values: [PersonValues], _ rows: FloorRows) throws {
        for form in floor == nil ? [] : ["row", "best"] {
            var measurement = Measurement("create-commit", store: store, against: "c", count: count, form: form)
            try measurement.run(
                rounds: rounds,
                ours: { try withStack { stack in try nanoseconds { try create(stack, values) } } },
                theirs: {
                    try withFloor { floor, handle in
                        try nanoseconds { try check(form == "row" ? floor.insert(handle, rows) : floor.insertBest(handle, rows)) }
                    }
                })
            report(measurement)
        }
        if isBesideGRDB {
            var measurement = Measurement("create-commit", store: store, against: "grdb", count: count)
            let records = values.map(PersonRecord.init)
            try measurement.run(
                rounds: rounds,
                ours: { try withStack { stack in try nanoseconds { try create(stack, values) } } },
                theirs: {
                    try withGRDB { pool in try nanoseconds { try pool.write { db in for record in records { try record.insert(db) } } } }
                })
            report(measurement)
        }
    }

    /// Performs the bulk load of a transfer, from rows that are already encoded.
    private func bulkInsert(_ values: [PersonValues], _ rows: FloorRows) throws {
        for form in floor == nil ? [] : ["row", "best"] {
            var measurement = Measurement("bulk-insert", store: store, against: "c", count: count, form: form)
            try measurement.run(
                rounds: rounds,
                ours: { try withStore { store in try nanoseconds { try BulkLoad(values).run(store) } } },
                theirs: {
                    try withFloor { floor, handle in
                        try nanoseconds { try check(form == "row" ? floor.insert(handle, rows) : floor.insertBest(handle, rows)) }
                    }
                })
            report(measurement)
        }
    }

    private func reads(_ values: [PersonValues], _ rows: FloorRows) throws {
        try withStack { stack in
            try create(stack, values)
            if let floor {
                try withFloor { _, handle in
                    try check(floor.insertBest(handle, rows))
                    if wants("fetch-objects") { try fetch(stack, floor, handle) }
                    if wants("point-lookup") { try points(stack, floor, handle) }
                    if wants("update-one-attribute") { try update(stack, floor, handle) }
                    return 0
                }
            }
            if isBesideGRDB, wants("fetch-objects") { try fetchAgainstGRDB(stack, values) }
            return 0
        }
    }

    private func fetch(_ stack: DataStack, _ floor: Floor, _ handle: UnsafeMutableRawPointer) throws {
        var measurement = Measurement("fetch-objects", store: store, against: "c", count: count)
        try measurement.run(
            rounds: rounds, ours: { try nanoseconds { try fetchAll(stack) } },
            theirs: { try nanoseconds { try check(floor.scan(handle)) } })
        report(measurement)
    }

    private func points(_ stack: DataStack, _ floor: Floor, _ handle: UnsafeMutableRawPointer) throws {
        let ids = try stack.fetchIDs(From<Person>())
        var random = SystemRandomNumberGenerator()
        let chosen = (0..<10_000).map { _ in ids[Int.random(in: 0..<ids.count, using: &random)] }
        let keys = chosen.map(\.key.key)
        var measurement = Measurement("point-lookup", store: store, against: "c", count: chosen.count)
        try measurement.run(
            rounds: rounds,
            ours: {
                try nanoseconds {
                    try stack.read(synchronous: { transaction in
                        for id in chosen where try transaction.fetchExisting(id) == nil { throw BenchmarkError.wrongAnswer }
                    })
                }
            },
            theirs: { try nanoseconds { try check(floor.points(handle, keys)) } })
        report(measurement)
    }

    private func update(_ stack: DataStack, _ floor: Floor, _ handle: UnsafeMutableRawPointer) throws {
        let keys = try stack.fetchIDs(From<Person>()).map(\.key.key)
        var measurement = Measurement("update-one-attribute", store: store, against: "c", count: count)
        try measurement.run(
            rounds: rounds,
            ours: {
                // Fetching the objects to change is measured elsewhere: this measurement begins with the first assignment and ends with the
                // commit.
                var start = ContinuousClock.now
                try stack.perform(synchronous: { transaction in
                    let objects = try transaction.fetchAll(From<Person>())
                    start = .now
                    for object in objects { object.age &+= 1 }
                })
                let time = ContinuousClock.now - start
                return Double(time.components.seconds) * 1e9 + Double(time.components.attoseconds) / 1e9
            },
            theirs: { try nanoseconds { try check(floor.update(handle, keys)) } })
        report(measurement)
    }

    private func fetchAgainstGRDB(_ stack: DataStack, _ values: [PersonValues]) throws {
        _ = try withGRDB { pool in
            try pool.write { db in for value in values { try PersonRecord(value).insert(db) } }
            var measurement = Measurement("fetch-objects", store: store, against: "grdb", count: count)
            try measurement.run(
                rounds: rounds * 2, ours: { try nanoseconds { try fetchAll(stack) } },
                theirs: {
                    try nanoseconds {
                        let all = try pool.read { try PersonRecord.fetchAll($0, sql: "SELECT * FROM person ORDER BY id") }
                        if all.count != count { throw BenchmarkError.wrongAnswer }
                    }
                })
            report(measurement)
            return 0
        }
    }

    @inline(never)
    func fetchAll(_ stack: DataStack) throws {
        let objects = try stack.fetchAll(From<Person>())
        if objects.count != count { throw BenchmarkError.wrongAnswer }
    }

    @inline(never)
    func create(_ stack: DataStack, _ values: [PersonValues]) throws {
        try stack.perform(synchronous: { transaction in
            for value in values {
                let person = try transaction.create(Person.self)
                person.number = Int(value.number)
                person.name = value.name
                person.email = value.email
                person.age = Int(value.age)
                person.score = value.score
                person.active = value.active
                person.created = value.created
                person.note = value.note
            }
        })
    }

    private func check(_ result: some BinaryInteger) throws {
        if result < 0 { throw BenchmarkError.floorFailed(store) }
    }
}

enum BenchmarkError: Error, CustomStringConvertible {
    case floorFailed(String)
    case wrongAnswer
    case noServer

    var description: String {
        switch self {
        case .floorFailed(let store): "the C implementation failed on \(store)"
        case .wrongAnswer: "one side returned a wrong result"
        case .noServer: "PostgreSQL 15 could not be started; check that initdb and pg_ctl are installed"
        }
    }
}

import Polystore
import PolystoreCatalog

/// The time to parse a typical condition, compared with the limit of 20 microseconds.
struct ParseBenchmark {
    let rounds: Int
    let report: (Measurement) -> Void

    private static let text = "name BEGINSWITH[c] %@ AND (age > %d OR city IN {'Ulm', 'Bonn'}) AND ANY friends.age >= 30"

    func run() throws {
        let count = 10_000
        var measurement = Measurement("parse", store: "-", against: "20 us", count: count)
        for _ in 0..<rounds {
            measurement.add(
                ours: try nanoseconds {
                    for number in 0..<count {
                        _ = try QueryPredicate(parsing: Self.text, arguments: [.value(.string("a")), .value(.int(Int64(number)))])
                    }
                })
            measurement.add(theirs: Double(count) * 20_000)
        }
        report(measurement)
    }
}

/// The time from a request to the first row of an empty SQLite table: checking, compiling, finding the prepared statement, binding and
/// running.
struct CompileBenchmark {
    let place: Places
    let rounds: Int
    let report: (Measurement) -> Void

    func run() throws {
        let schema = try Schema(json: BenchmarkModel.json), count = 20_000
        let store = try OpenStore(catalogued: place.url("sqlite"), OpenRequest(schema: schema))
        defer { try? store.close() }
        let reader = try store.beginRead(), batch = RowBatch(capacity: 1)
        defer { reader.end() }
        let predicate = QueryPredicate.and([
            .compare(.path("age"), .greater, .value(.int(30))), .compare(.path("name"), .equal, .value(.string("a"))),
        ])
        let request = ObjectRequest("Person", where: predicate, orderBy: [OrderTerm(.path("score"))], limit: 10)
        let plan = try request.plan(in: schema)
        for form in ["check", "compile and run"] {
            var measurement = Measurement("compile", store: "sqlite", against: "2 us", count: count, form: form)
            for _ in 0..<rounds {
                measurement.add(
                    ours: try nanoseconds {
                        for _ in 0..<count {
                            if form == "check" {
                                _ = try request.plan(in: schema)
                            } else {
                                _ = try reader.cursor(for: plan).next(into: batch)
                            }
                        }
                    })
                measurement.add(theirs: Double(count) * 2_000)
            }
            report(measurement)
        }
    }
}

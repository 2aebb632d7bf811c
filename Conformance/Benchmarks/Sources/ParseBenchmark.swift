import Polystore

/// Reading a typical condition from its text, beside the 20 microseconds that it may take.
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
                        _ = try Predicate(parsing: Self.text, arguments: [.value(.string("a")), .value(.int(Int64(number)))])
                    }
                })
            measurement.add(theirs: Double(count) * 20_000)
        }
        report(measurement)
    }
}

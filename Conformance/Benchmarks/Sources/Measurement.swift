import Foundation

/// A comparison of two sides that run in turns, so that other activity of the machine affects both.
struct Measurement {
    let workload: String
    let store: String
    let against: String
    let count: Int
    /// The variant of the other side, such as `row` or `best`.
    var form: String?
    private(set) var ours: [Double] = []
    private(set) var theirs: [Double] = []

    init(_ workload: String, store: String, against: String, count: Int, form: String? = nil) {
        self.workload = workload
        self.store = store
        self.against = against
        self.count = count
        self.form = form
    }

    /// Runs both sides `rounds` times. Each closure returns the nanoseconds to count, so that preparation is not measured.
    mutating func run(rounds: Int, ours: () throws -> Double, theirs: () throws -> Double) rethrows {
        for round in 0..<rounds {
            // The sides take turns at beginning, so that neither always runs with the caches that the other left.
            if round % 2 == 0 {
                self.ours.append(try ours())
                self.theirs.append(try theirs())
            } else {
                self.theirs.append(try theirs())
                self.ours.append(try ours())
            }
        }
    }

    mutating func add(ours time: Double) { ours.append(time) }
    mutating func add(theirs time: Double) { theirs.append(time) }

    var ratio: Double { (ours.min() ?? 0) / max(theirs.min() ?? 1, 1) }
    var medianRatio: Double { median(ours) / max(median(theirs), 1) }

    private func median(_ values: [Double]) -> Double {
        let sorted = values.sorted()
        return sorted.isEmpty ? 0 : sorted[sorted.count / 2]
    }

    /// The measurement as one JSON object in one line.
    var json: String {
        var fields = [
            "\"workload\":\"\(workload)\"", "\"store\":\"\(store)\"", "\"against\":\"\(against)\"",
            "\"ratio\":\(rounded(ratio))", "\"median_ratio\":\(rounded(medianRatio))", "\"ours_ns\":\(Int(ours.min() ?? 0))",
            "\"theirs_ns\":\(Int(theirs.min() ?? 0))", "\"count\":\(count)", "\"rss_mb\":\(residentMegabytes())",
        ]
        if let form { fields.append("\"form\":\"\(form)\"") }
        return "{" + fields.joined(separator: ",") + "}"
    }

    /// The measurement as one line of the table.
    var row: String {
        let name = form.map { "\(against) (\($0))" } ?? against
        return [
            pad(workload, 22), pad(store, 11), pad(name, 14), right(String(rounded(ratio)), 8), right(String(rounded(medianRatio)), 8),
            right(String(Int((ours.min() ?? 0) / Double(count))), 10), right(String(Int((theirs.min() ?? 0) / Double(count))), 10),
            right(String(count), 9),
        ].joined(separator: " ")
    }

    static let header = "workload               store       against           ratio   median  ours ns/1 theirs ns/1    count"

    private func rounded(_ value: Double) -> Double { (value * 1000).rounded() / 1000 }
    private func pad(_ text: String, _ width: Int) -> String { text.padding(toLength: width, withPad: " ", startingAt: 0) }
    private func right(_ text: String, _ width: Int) -> String { String(repeating: " ", count: max(0, width - text.count)) + text }
}

/// Returns the nanoseconds that a closure takes.
func nanoseconds(_ body: () throws -> Void) rethrows -> Double {
    let start = ContinuousClock.now
    try body()
    let time = ContinuousClock.now - start
    return Double(time.components.seconds) * 1e9 + Double(time.components.attoseconds) / 1e9
}

/// Returns the resident memory of this process in megabytes, or 0 where `/proc` is not available.
func residentMegabytes() -> Int {
    guard let text = try? String(contentsOfFile: "/proc/self/statm", encoding: .utf8) else { return 0 }
    let pages = text.split(separator: " ").dropFirst().first.flatMap { Int($0) } ?? 0
    return pages * 4096 / 1_048_576
}

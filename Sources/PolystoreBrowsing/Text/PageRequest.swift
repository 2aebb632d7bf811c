internal import PolystoreStorage

/// The path and the query of a request, decoded.
struct PageRequest: Sendable {
    /// The parts of the path.
    let path: [String]
    private let values: [String: String]

    init(_ target: String) {
        let parts = target.split(separator: "?", maxSplits: 1, omittingEmptySubsequences: false)
        path = (parts.first ?? "").split(separator: "/").map { Self.decoded($0) }
        var values: [String: String] = [:]
        for pair in (parts.count > 1 ? parts[1] : "").split(separator: "&") {
            let sides = pair.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
            let value = sides.count > 1 ? Self.decoded(sides[1].replacing("+", with: " ")) : ""
            values[Self.decoded(sides[0]), default: value] = value
        }
        self.values = values
    }

    /// Returns the value of a name in the query; nil if it is absent or empty.
    func text(_ name: String) -> String? { values[name].flatMap { $0.isEmpty ? nil : $0 } }

    /// Returns the number of a name in the query; nil if it is absent or not a number.
    func number(_ name: String) -> Int64? { text(name).flatMap { Int64($0) } }

    private static func decoded(_ text: some StringProtocol) -> String { PercentEncoding.decoded(text) ?? String(text) }
}

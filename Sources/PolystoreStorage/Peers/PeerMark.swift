/// A random mark that distinguishes a transaction of two stores from every other transaction with the same number.
struct PeerMark: Sendable, Hashable {
    private let number: UInt64

    /// Creates the mark of a new transaction.
    init() { number = .random(in: 1 ... .max) }

    init?(_ text: some StringProtocol) {
        guard let number = UInt64(text, radix: 36) else { return nil }
        self.number = number
    }

    var text: String { String(number, radix: 36) }

    /// Returns whether two marks can belong to the same transaction. A missing mark agrees with any mark.
    static func agree(_ a: PeerMark?, _ b: PeerMark?) -> Bool { a == nil || b == nil || a == b }
}

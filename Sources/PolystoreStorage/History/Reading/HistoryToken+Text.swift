internal import Foundation

/// As a text: the store and the position, `store:position`.
extension HistoryToken: LosslessStringConvertible {
    /// The store and the position.
    public var description: String { "\(store.uuidString.lowercased()):\(position)" }

    /// A token of its text; nil if the text is none.
    public init?(_ description: String) {
        let parts = description.split(separator: ":", omittingEmptySubsequences: false)
        guard parts.count == 2, let store = UUID(uuidString: String(parts[0])), let position = Int64(parts[1]) else { return nil }
        self.init(store: store, position: position)
    }
}

public import Foundation

/// Where the history of a store begins: what is at or below it was purged. It is kept as a note, so it is part of the transaction that
/// moves it.
public struct HistoryFloor: Sendable, Hashable {
    /// The name of the note.
    public static let noteName = "history.floor"

    /// The position; 0 where nothing was ever purged.
    public let position: Int64
    /// Whether somebody changes the store without recording it, so that no token is good to go on from.
    public let isUnrecorded: Bool

    /// A floor.
    public init(_ position: Int64, isUnrecorded: Bool = false) {
        self.position = position
        self.isUnrecorded = isUnrecorded
    }

    /// The floor of a note; 0 where there is none.
    public init(note: Data?) throws(StorageError) {
        guard let note else {
            self.init(0)
            return
        }
        let text = String(decoding: note, as: UTF8.self), isUnrecorded = text.hasSuffix(Self.mark)
        guard let position = Int64(isUnrecorded ? String(text.dropLast(Self.mark.count)) : text), (0..<Int64.max).contains(position) else {
            throw StorageError(.corrupted, "the store has lost where its history begins; restore a backup of it")
        }
        self.init(position, isUnrecorded: isUnrecorded)
    }

    private static let mark = " off"

    /// The bytes of the note: the position as text, with ` off` behind it where changes are not recorded.
    public var note: Data { Data("\(position)\(isUnrecorded ? Self.mark : "")".utf8) }

    /// The position after which the history goes on from one; nil begins with the oldest entry that is kept.
    ///
    /// - Returns: Nil where nothing can be told.
    /// - Throws: `tokenExpired` for a position below the floor.
    public func start(after position: Int64?) throws(StorageError) -> Int64? {
        guard let position else { return isUnrecorded ? nil : self.position }
        if position >= self.position, !isUnrecorded { return position }
        throw StorageError(
            .tokenExpired,
            "the history no longer reaches back to the token; read everything anew, and go on from the newest token of that session")
    }
}

/// How far the history is behind the transactions that a session sees, because one with a lower token may still appear.
public struct HistoryLag: Sendable, Hashable {
    /// The number of entries that `history` does not give yet.
    public let entries: Int
    /// The time of the oldest of them, in microseconds since 1970; nil where there is none.
    public let oldest: Int64?

    /// A lag; none unless said otherwise.
    public init(entries: Int = 0, oldest: Int64? = nil) {
        self.entries = entries
        self.oldest = oldest
    }
}

extension StorageError {
    /// The answer of a store whose history has an entry that makes no sense.
    public static var damagedHistory: StorageError { StorageError(.corrupted, "an entry of the history is damaged") }

    /// The answer of a store that keeps no history.
    public static var keepsNoHistory: StorageError {
        StorageError(.unsupported, "the store keeps no history (it lacks the capability \(StorageCapabilities.Capability.history))")
    }
}

extension StoreURL {
    /// Whether the store is to record its history: the option is `on` or `off`, `on` where it is missing.
    public func recordsHistory(option: String = "history") throws(StorageError) -> Bool { try isOn(option, default: true) }

    /// Whether an option is `on` and not `off`.
    package func isOn(_ option: String, default missing: Bool) throws(StorageError) -> Bool {
        guard let text = self.option(option) else { return missing }
        guard ["on", "off"].contains(text) else { throw StorageError(.invalidConfiguration, "\(option) is on or off") }
        return text == "on"
    }
}

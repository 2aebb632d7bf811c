package import PolystoreFoundation

/// The start of a store's history: entries at or below the floor were purged. It is stored as a note and is therefore part of the
/// transaction that changes it.
package struct HistoryFloor: Sendable, Hashable {
    /// The name of the note.
    package static let noteName = "history.floor"

    /// The position of the floor, or 0 if nothing was ever purged.
    package let position: Int64
    /// Whether a program changes the store without recording the changes, so that no token is a valid starting point.
    package let isUnrecorded: Bool

    /// Creates a floor.
    package init(_ position: Int64, isUnrecorded: Bool = false) {
        self.position = position
        self.isUnrecorded = isUnrecorded
    }

    /// Creates a floor from a note: 0 if there is no note.
    package init(note: Data?) throws(StorageError) {
        guard let note else {
            self.init(0)
            return
        }
        let text = String(decoding: note, as: UTF8.self), isUnrecorded = text.hasSuffix(Self.mark)
        guard let position = Int64(isUnrecorded ? String(text.dropLast(Self.mark.count)) : text), (0..<Int64.max).contains(position) else {
            throw StorageError(.corrupted, "the stored start of the history is damaged; restore the store from a backup")
        }
        self.init(position, isUnrecorded: isUnrecorded)
    }

    /// The floor of a history whose entries were those of another store.
    package static let restored = HistoryFloor(1)

    private static let mark = " off"

    /// The bytes of the note: the position as text, followed by ` off` if changes are not recorded.
    package var note: Data { Data("\(position)\(isUnrecorded ? Self.mark : "")".utf8) }

    /// Returns the position at which the history continues after a given position. Nil starts with the oldest retained entry.
    ///
    /// - Returns: The position, or nil if changes are not recorded and no starting point is valid.
    /// - Throws: `tokenExpired` for a position below the floor, and for any position if changes are not recorded.
    package func start(after position: Int64?) throws(StorageError) -> Int64? {
        guard let position else { return isUnrecorded ? nil : self.position }
        if position >= self.position, !isUnrecorded { return position }
        throw StorageError(
            .tokenExpired,
            "the history after the token was purged or not recorded; read all objects again, and continue from the newest token of that "
                + "session"
        )
    }
}

extension StorageError {
    /// The error for a malformed entry of the history.
    public static var damagedHistory: StorageError {
        StorageError(.corrupted, "an entry of the history is damaged; restore the store from a backup")
    }

    /// The error of a store that keeps no history.
    public static var keepsNoHistory: StorageError {
        StorageError(.unsupported, "the store records no history (it lacks the capability \(StorageCapabilities.Capability.history))")
    }
}

extension StoreURL {
    /// Returns whether the store records its history. The option is `on` or `off`; the default is `on`.
    public func recordsHistory(option: String = "history") throws(StorageError) -> Bool { try isOn(option, default: true) }

    /// Returns whether an option is `on` rather than `off`.
    package func isOn(_ option: String, default missing: Bool) throws(StorageError) -> Bool {
        guard let text = self.option(option) else { return missing }
        guard ["on", "off"].contains(text) else { throw StorageError(.invalidConfiguration, "the option \(option) must be on or off") }
        return text == "on"
    }
}

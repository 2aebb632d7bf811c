/// The notes of a store that is filled with the objects of another store in several transactions.
package enum CopyNote {
    /// The name of the note with the state of a copy that is incomplete. It is removed by the last transaction.
    package static let incomplete = "copy.incomplete"
    /// The name of the note with the state of a copy that is complete.
    package static let complete = "copy.complete"

    /// Refuses a store that contains an incomplete copy.
    static func check(_ store: OpenStore) throws(StorageError) {
        // Databases of other programs are filled in one transaction.
        if store.ability((any ForeignStorage).self)?.foreignAccess != nil { return }
        // What else prevents reading, such as a migration by another program, is for those who read to handle.
        guard let reader = try? store.beginRead() else { return }
        defer { reader.end() }
        guard let note = try? reader.note(incomplete), !note.isEmpty else { return }
        throw StorageError(
            .incompleteCopy,
            "the store contains an incomplete copy of another store, because a transfer was interrupted; repeat the same transfer to complete "
                + "it, or erase the store (polystore erase)")
    }
}

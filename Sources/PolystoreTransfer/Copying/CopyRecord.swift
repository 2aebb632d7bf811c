package import PolystoreStorage

/// The progress of a transfer into a store, as the store keeps it until the copy is complete.
package struct CopyRecord: Sendable {
    /// The location of the source.
    package let source: String
    /// The hierarchies and link tables that were begun, with the numbers of their copied rows and pairs.
    package let tables: [(name: String, count: Int)]
    /// Whether the transfer follows a source that is in use.
    package let isLive: Bool
    /// Whether everything was copied, so that a live transfer only follows changes.
    package let isCopied: Bool

    /// Reads the record of a store; nil if it contains no incomplete copy.
    ///
    /// - Throws: `corrupted` if the record is damaged.
    package init?(in reader: ReadSession) throws(StorageError) {
        guard let note = try reader.note(CopyNote.incomplete), !note.isEmpty else { return nil }
        guard let state = CopyState(note) else {
            throw StorageError(.corrupted, "the note about the incomplete copy is damaged; erase the store and repeat the transfer")
        }
        source = state.source
        tables = state.tables.map { ($0.name, $0.count) }
        isLive = state.live != nil
        isCopied = state.live?.isCopied == true
    }
}

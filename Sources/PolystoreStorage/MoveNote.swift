package import PolystoreFoundation

/// The note of a store whose objects are moved to another store, or have been. Transactions of programs that do not move them are refused.
package struct MoveNote: Codable, Sendable {
    /// The name of the note.
    package static let name = "move"

    /// The name of the other store, such as its URL without a password.
    package let place: String
    /// The identity of the other store.
    package let target: UUID
    /// The position in the history of the other store at which both had the same objects; nil before that.
    package var token: HistoryToken?
    /// Whether the other store has replaced this one.
    package var isComplete = false

    /// Creates the note of a move that begins.
    package init(to place: String, _ target: UUID) {
        self.place = place
        self.target = target
    }

    /// Returns the note of a store; nil if it is not moved.
    ///
    /// - Throws: `corrupted` if the note is damaged.
    package init?(in session: ReadSession) throws(StorageError) {
        guard let bytes = try session.note(Self.name), !bytes.isEmpty else { return nil }
        self = try Self.decode(bytes)
    }

    private static func decode(_ bytes: Data) throws(StorageError) -> MoveNote {
        do { return try JSONDecoder().decode(MoveNote.self, from: bytes) } catch {
            throw StorageError(.corrupted, "the note about the move of the store's objects is damaged", cause: error)
        }
    }

    /// The note of a move that is complete.
    package var completed: MoveNote {
        var note = self
        note.isComplete = true
        return note
    }

    /// The note as bytes.
    package func bytes() throws(StorageError) -> Data {
        do { return try JSONEncoder().encode(self) } catch {
            throw StorageError(.limitExceeded, "the note about the move of the store's objects cannot be written", cause: error)
        }
    }

    /// The error of a transaction of another program.
    package var refusal: StorageError {
        StorageError(
            .storeMoved,
            isComplete
                ? "the objects of the store have been moved to \(place); open that store instead"
                : "the objects of the store are being moved to \(place), and changes are refused until then; repeat the transaction later")
    }

    /// Refuses the transaction that has found a note.
    ///
    /// - Throws: `storeMoved`.
    package static func refuse(_ bytes: Data?) throws(StorageError) {
        if let bytes, !bytes.isEmpty { throw try decode(bytes).refusal }
    }

    /// Refuses a store that another one has replaced.
    static func check(_ store: OpenStore) throws(StorageError) {
        guard store.checksMoves != nil else { return }
        guard let reader = try? store.beginRead() else { return }
        defer { reader.end() }
        if let note = try? MoveNote(in: reader), note.isComplete { throw note.refusal }
    }
}

package import Foundation
public import PolystoreStorage

/// The choices of a transfer.
public struct TransferOptions: Sendable {
    /// The treatment of a target that contains objects. Objects are the same if they have the same primary key.
    public enum ExistingObjects: String, Sendable, CaseIterable {
        /// The target must be empty.
        case fail
        /// The objects of the source are added. None of them may exist in the target.
        case append
        /// The objects of the source are added, or updated where they exist. Other objects of the target remain.
        case merge
        /// As `merge`, and all other objects of the target are deleted.
        case replace
    }

    /// The treatment of a row that the target cannot take.
    public enum ErrorTreatment: Sendable, Hashable {
        /// The transfer ends, and the target is not complete.
        case stop
        /// The row is left out, and so are rows that must refer to it; other references to it become nil. The transfer ends if more than
        /// `most` rows are left out.
        case skip(most: Int = 1000)
    }

    /// The objects that are copied. All names are those of the source.
    public var selection = TransferSelection()
    /// The names and types that the target has instead of those of the source. The target must have the model `mapping.schema(for:)`.
    public var mapping = TransferMapping()
    /// The treatment of the objects of the target.
    public var existing = ExistingObjects.fail
    /// The losses that are accepted, as paths in the source: relationships, such as `Book.author`, whose references to objects that are not
    /// copied become nil in the copy, and such as `Order.items`, of which fewer members are copied than an object must have; and attributes with another type, such as `Book.price`, whose values without an exact equivalent become
    /// the nearest value, or nil if there is none and the attribute is optional. `joint commits` stands for the changes that other stores
    /// may still keep for the source, because it took part in transactions with them.
    public var acceptedLosses: Set<String> = []
    /// The accepted loss of the changes that other stores keep for the source.
    package static let jointCommits = "joint commits"
    /// The treatment of a row that the target cannot take: a value that is not storable there or breaks a rule of the model, a value of another
    /// type without an equivalent, a duplicate under a unique constraint, or a row of another program's database that cannot be read.
    ///
    /// Rows are examined before anything is copied, so that what the models tell is known then. What only the target finds begins the copy
    /// again.
    public var onError = ErrorTreatment.stop
    /// Receives the rows that are left out, before the copy is complete: once for a transfer, and again if a transfer that was interrupted is
    /// repeated. If it throws, the copy is not completed.
    public var receiveRejects: (@Sendable (TransferRejects) throws(StorageError) -> Void)?
    /// The pace of the copy.
    public var pace = TransferPace()
    /// Whether the transactions of the source's history are copied too, with their times, authors and changes.
    ///
    /// They need all objects as they are: no selection, no mapping, an empty target without a history, and no rows that are left out. If the
    /// source or the target keeps no history, the objects are copied without it (`TransferReport.historyObstacle`). Tokens of the source are
    /// not tokens of the target, which refuses them as `tokenExpired`.
    public var includesHistory = false
    /// Whether the copy is read and compared with the source before it is complete.
    public var verifies = true
    /// The name of the source, such as its URL, if the copy is made in steps; nil if it is made in one transaction.
    ///
    /// Steps are only for a new target that no other program uses. Each is committed with a note of the progress of the copy. Until the last
    /// step the target can be opened for no other purpose. A transfer that was interrupted, also by the end of its process, continues if it
    /// is repeated with the same name and the same options.
    public var source: String?
    /// Whether the copy is made in one transaction although the source has a name. The target then has a note that the copy is complete.
    package var isWhole = false
    /// Whether the source changes meanwhile, and its changes are followed.
    package var isLive = false
    /// Identifies the transfer among others into the same target.
    package var run = UUID()
    /// The number of threads that copy in steps, at least 1.
    ///
    /// With 1, rows are read and written in turn. With more, one thread reads, from one snapshot as ever, and the others write what it has
    /// read: as many of them as the target takes write transactions of one load at the same time, which are up to four of PostgreSQL and one
    /// of every other store. A copy that leaves rows out (`onError`) and one in a single transaction have one thread.
    public var workers = 1
    /// The time after which a step is committed.
    public var step = Duration.milliseconds(500)

    /// Creates the options of a transfer that copies everything into an empty target in one transaction, and verifies the copy.
    public init() {}

    /// Whether rows are left out that the target cannot take.
    var skipsErrors: Bool {
        switch onError {
        case .stop: false
        case .skip: true
        }
    }

    /// Returns a text that identifies what is copied.
    ///
    /// - Parameter schema: The model of the target.
    func work(_ schema: Schema) -> String {
        let conditions = selection.conditions.sorted { $0.key < $1.key }.map { "\($0.key): \($0.value)" }
        let parts = [
            selection.only.map { "\($0.sorted())" } ?? "", "\(selection.except.sorted())", "\(conditions)",
            "\(selection.followsReferences)",
        ]
        let further =
            (isLive ? ["live"] : []) + (skipsErrors ? ["skip"] : []) + (includesHistory ? ["history"] : []) + acceptedLosses.sorted()
            + (mapping.isEmpty ? [] : ["mapping", mapping.text])
        return "\(schema.hash) \(SchemaHash(of: (parts + further).joined(separator: "\n")))"
    }

    /// Returns the notes of a store that is created for the copy: it is marked as incomplete from the beginning. Without the name of the
    /// source there are none.
    package func notes(for schema: Schema) throws(StorageError) -> [String: Data] {
        guard let source else { return [:] }
        return [CopyNote.incomplete: try CopyState(source, work(schema), run).note()]
    }

    /// Removes the note of a copy by this transfer that has not copied anything, so that the store is an empty one.
    func removeNoteOfUnusedCopy(in store: OpenStore) throws(StorageError) {
        let writer = try store.beginWrite()
        defer { writer.end() }
        if try !isOwn(writer) { return }
        try Contents(writer).checkIsEmpty()
        try writer.setNote(CopyNote.incomplete, nil)
        _ = try writer.commit(CommitRecord(author: "transfer"))
    }

    /// The progress of a transfer with the same options.
    package enum Progress {
        /// The target has no note of a copy.
        case none
        /// The target contains an incomplete copy.
        case incomplete
        /// The target contained a complete copy at the end of the transfer.
        case complete
    }

    /// Returns how far an earlier transfer with these options has come.
    ///
    /// - Throws: `alreadyExists` if the store contains an incomplete copy of something else.
    package func progress(in store: ReadSession) throws(StorageError) -> Progress {
        try state(in: store) != nil ? .incomplete : try completed(store) != nil ? .complete : .none
    }

    /// Returns whether this transfer, and no other one, writes to a store.
    package func isOwn(_ store: ReadSession) throws(StorageError) -> Bool {
        guard let note = try store.note(CopyNote.incomplete) else { return false }
        return CopyState(note)?.run == run
    }

    /// Returns the state of an incomplete copy with these options; nil without an incomplete copy.
    func state(in store: ReadSession) throws(StorageError) -> CopyState? {
        guard let note = try store.note(CopyNote.incomplete) else { return nil }
        if let found = CopyState(note), let source, found.isSameWork(as: CopyState(source, work(store.schema), run)) { return found }
        throw StorageError(
            .alreadyExists,
            "the target contains an incomplete copy of another source or with other options; repeat that transfer, or erase the target "
                + "(polystore erase)")
    }

    private func completed(_ store: ReadSession) throws(StorageError) -> CopyState? {
        guard let source, let note = try store.note(CopyNote.complete) else { return nil }
        return CopyState(source, work(store.schema), run).completed(note)
    }

    /// Returns the rows that a store has refused in an earlier transfer with these options; nil if it has refused none.
    func refused(in store: ReadSession) throws(StorageError) -> RefusedRows? {
        if let state = try state(in: store) { return state.refused }
        return try completed(store)?.refused
    }

    /// Returns why a source is not copied: other stores may keep changes for it.
    func refusal(of source: ReadSession) throws(StorageError) -> StorageError? {
        acceptedLosses.contains(Self.jointCommits) ? nil : try Peers(source).refusalOfCopy(accepting: Self.jointCommits)
    }

    /// Refuses options that exclude each other.
    func check() throws(StorageError) {
        try pace.check()
        if workers < 1 { throw StorageError(.invalidConfiguration, "a transfer needs at least one thread") }
        if existing == .replace, !selection.isAll {
            throw StorageError(
                .invalidConfiguration,
                "a transfer that replaces the contents of the target copies all objects; use merge to copy a part of them")
        }
        if includesHistory, !selection.isAll || !mapping.isEmpty || existing != .fail || skipsErrors || isLive {
            throw StorageError(
                .invalidConfiguration,
                "the history is copied only with all objects as they are, into an empty target: without a choice, other names or types, and "
                    + "rows that are left out")
        }
        if source != nil, existing != .fail {
            throw StorageError(.invalidConfiguration, "a copy into a target with objects is made in one transaction, not in steps")
        }
    }
}

internal import Foundation
internal import PolystoreStorage
internal import Synchronization

/// The progress of a copy in steps, as the target has it. The transactions of a copy share it.
final class CopyLedger: Sendable {
    private struct Entry {
        /// The progress with the current step; nil if there is one transaction.
        var state: CopyState?
        /// The note that the last step has committed.
        var committed: Data?
    }

    private let entry = Mutex(Entry())
    /// Held by the step that commits.
    private let turn = Mutex(())

    /// The progress; nil if there is one transaction.
    var state: CopyState? {
        get { entry.withLock { $0.state } }
        set { entry.withLock { $0.state = newValue } }
    }

    /// The note that the last step has committed; nil if there is none.
    var committed: Data? { entry.withLock { $0.committed } }

    /// Continues with the state that another process has left in the target.
    ///
    /// - Parameter note: The note of the target with that state; nil if there is none.
    func begin(_ state: CopyState, after note: Data?) { entry.withLock { $0 = Entry(state: state, committed: note) } }

    /// Checks that a transaction sees the note that the last step has committed.
    func check(_ writer: WriteSession) throws(StorageError) {
        try Self.check(try writer.note(CopyNote.incomplete), is: committed)
    }

    private static func check(_ found: Data?, is committed: Data?) throws(StorageError) {
        if found == committed { return }
        throw StorageError(.busy, "another transfer writes to the target at the same time; this one has ended")
    }

    /// Commits a step with the state, to which its parts are added. Other steps wait meanwhile.
    ///
    /// - Parameter isShared: Whether other steps have run at the same time, so that the note is compared only now.
    func commit(_ writer: WriteSession, _ parts: [(name: String, part: CopiedPart)], isShared: Bool) throws(StorageError) {
        try turn.withLock { _ throws(StorageError) in
            let last = entry.withLock { $0 }
            guard var state = last.state else { return }
            if isShared { try Self.check(try writer.note(CopyNote.incomplete), is: last.committed) }
            for (name, part) in parts { state.add(part, of: name) }
            let note = try state.note()
            try writer.setNote(CopyNote.incomplete, note)
            _ = try writer.commit(CommitRecord(author: "transfer"))
            begin(state, after: note)
        }
    }
}

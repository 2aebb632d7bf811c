package import Foundation
package import PolystoreStorage

/// A write transaction: its notes and savepoints.
package protocol SQLWriteSession: SQLSession, StorageWriter {
    /// What the session needs to return to a savepoint.
    associatedtype Mark

    var savepoints: Savepoints<Mark> { get set }

    /// Makes a mark, once everything was done that a savepoint must not undo.
    func mark() throws(StorageError) -> Mark

    /// Drops what was begun since a savepoint, before the engine returns to it.
    func willRollBack()

    /// Returns to a mark, as the engine has.
    func didRollBack(to mark: Mark)

    /// Notes a change that is none of objects.
    func didWriteNote()
}

extension SQLWriteSession {
    package func willRollBack() {}
    package func didWriteNote() {}

    package func setNote(_ name: String, _ bytes: Data?) throws(StorageError) {
        try checkOpen()
        didWriteNote()
        try connection.setNote(name, bytes)
    }

    package func savepoint() throws(StorageError) -> Int {
        try checkOpen()
        let mark = try mark()
        try connection.execute("SAVEPOINT s\(savepoints.next)")
        return savepoints.add(mark)
    }

    package func rollback(to savepoint: Int) throws(StorageError) {
        try checkOpen()
        let mark = try savepoints.find(savepoint).state
        willRollBack()
        try connection.execute("ROLLBACK TO SAVEPOINT s\(savepoint)")
        didRollBack(to: mark)
        savepoints.rewind(to: savepoint)
    }

    package func release(_ savepoint: Int) throws(StorageError) {
        try checkOpen()
        try savepoints.find(savepoint)
        try connection.execute("RELEASE SAVEPOINT s\(savepoint)")
        savepoints.release(savepoint)
    }
}

extension SQLWriteSession where Mark == Void {
    package func mark() {}
    package func didRollBack(to mark: Void) {}
}

package import PolystoreFoundation
package import PolystoreStorage

/// A write transaction with notes and savepoints.
package protocol SQLWriteSession: SQLSession, StorageWriter {
    /// The state of the session that a rollback to a savepoint restores.
    associatedtype Mark

    var savepoints: Savepoints<Mark> { get set }

    /// Returns the state for a savepoint, after completing all work that a rollback to it must not undo.
    func mark() throws(StorageError) -> Mark

    /// Discards work that was begun since a savepoint, before the engine rolls back to it.
    func willRollBack()

    /// Restores the state of a savepoint after the engine has rolled back to it.
    func didRollBack(to mark: Mark)

    /// Records that the transaction has changed a note, which is not a change of objects.
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

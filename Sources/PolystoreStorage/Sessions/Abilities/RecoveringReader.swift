/// A session of a store whose transactions cannot continue after a failed read, unless the read was an attempt.
package protocol RecoveringReader: StorageReader {
    /// Begins an attempt. Attempts can be nested.
    func beginAttempt() throws(StorageError)

    /// Ends the attempt that was begun last.
    ///
    /// - Parameter hasFailed: Whether one of its reads has failed. Cursors that were made in the attempt have ended then.
    func endAttempt(hasFailed: Bool) throws(StorageError)
}

extension ReadSession {
    /// Reads in such a way that the session can be used after an error: a value of another program's database may have no form in Polystore,
    /// and all others are read without it.
    package final func attempt<Result>(_ body: () throws(StorageError) -> Result) throws(StorageError) -> Result {
        let isForeign = store.ability((any ForeignStorage).self)?.foreignAccess != nil
        guard isForeign, !(self is WriteSession), let recovering = ability((any RecoveringReader).self) else { return try body() }
        try checkActive()
        try recovering.beginAttempt()
        let result: Result
        do throws(StorageError) { result = try body() } catch {
            // Where the session cannot recover, its next read says so.
            try? recovering.endAttempt(hasFailed: true)
            throw error
        }
        try recovering.endAttempt(hasFailed: false)
        return result
    }
}

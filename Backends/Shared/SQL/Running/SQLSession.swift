package import PolystoreFoundation
package import PolystoreStorage

/// A session over one connection.
package protocol SQLSession: ValueQueryReader {
    associatedtype Core: SQLCore
    associatedtype Connection: SQLConnection

    var core: Core { get }
    var connection: Connection { get }

    /// Throws if the session has ended or its transaction has failed.
    ///
    /// - Throws: The error that ended the session or made its transaction fail.
    func checkOpen() throws(StorageError)

    /// Returns the engine's answer to a value query, or nil where it would differ from the contract.
    func answer(_ query: SQLValueQuery) throws(StorageError) -> [[Value]]?
}

extension SQLSession {
    package func pushdown(of plan: FetchPlan) -> Pushdown { core.compiler.pushdown(of: plan) }

    package func pushdown(of plan: QueryPlan) -> Pushdown { core.statements.values(plan) == nil ? .unsupported : .exact }

    package func values(for plan: QueryPlan) throws(StorageError) -> [[Value]]? {
        try checkOpen()
        guard let query = core.statements.values(plan), let answer = try answer(query) else { return nil }
        return try SQLValueQuery.answer(answer, plan)
    }

    package func note(_ name: String) throws(StorageError) -> Data? {
        try checkOpen()
        return try connection.note(name)
    }

    /// Throws if the store does not record a history.
    ///
    /// - Throws: `unsupported`.
    package func checkHistory() throws(StorageError) {
        try checkOpen()
        if !core.metadata.history.isOn { throw .keepsNoHistory }
    }
}

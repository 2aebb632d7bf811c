internal import PolystoreStorage

/// One of two stores that are compared.
enum ComparedStore: String {
    case first, second

    /// Reads from the store, and names it in an error.
    func reading<Result>(_ body: () throws(StorageError) -> Result) throws(StorageError) -> Result {
        do throws(StorageError) { return try body() } catch {
            if error.code == .cancelled { throw error }
            throw StorageError(error.code, "the \(rawValue) store: \(error.message)", details: error.details, cause: error)
        }
    }
}

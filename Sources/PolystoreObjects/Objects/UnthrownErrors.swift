internal import PolystoreStorage

/// The errors of a context that getters and setters could not throw.
struct UnthrownErrors {
    /// The first one, which the transaction or the read throws at its end.
    var first: StorageError?
    /// The failures already reported to the logger, of errors that no method throws.
    private var reported: Set<Place> = []

    private struct Place: Hashable {
        let code: StorageError.Code
        let entity: String?
        let property: String?
    }

    /// Records an error. If no method will throw it, it is reported to the logger, once for each property.
    mutating func add(_ error: StorageError, isThrownLater: Bool) {
        var error = error
        if !isThrownLater {
            let place = Place(code: error.code, entity: error.details.entity, property: error.details.property)
            if reported.insert(place).inserted {
                error = StoreLogging.report(error, fileName: #fileID, lineNumber: #line, functionName: #function)
            }
        }
        if first == nil { first = error }
    }
}

internal import PolystoreStorage

/// The errors of a context that getters and setters could not throw.
struct UnthrownErrors {
    /// The first one, which the transaction or the read throws at its end.
    var first: StorageError?
    /// Whether a running method throws the first one as soon as its work ends.
    var isThrown = false
    /// Whether that method only reads, so that nothing is assigned after a failure.
    var isReading = false
    /// The failures already reported to the logger, of errors that no method throws.
    private var reported: Set<Place> = []

    private struct Place: Hashable {
        let code: StorageError.Code
        let entity: String?
        let property: String?

        init(_ error: StorageError) {
            code = error.code
            entity = error.details.entity
            property = error.details.property
        }
    }

    /// Records an error.
    mutating func add(_ error: StorageError) { if first == nil { first = error } }

    /// Returns whether an error that no method throws is the first with its code of its property, and remembers it as reported.
    mutating func shouldReport(_ error: StorageError) -> Bool {
        if isThrown, first.map({ Place($0) == Place(error) }) ?? true { return false }
        return reported.insert(Place(error)).inserted
    }
}

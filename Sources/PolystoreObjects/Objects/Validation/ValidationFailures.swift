public import PolystoreStorage

/// Several rule violations of one object.
public struct ValidationFailures: Error, Sendable {
    /// The failures.
    public let failures: [ValidationFailure]

    /// Creates an error from several failures.
    public init(_ failures: [ValidationFailure]) { self.failures = failures }
}

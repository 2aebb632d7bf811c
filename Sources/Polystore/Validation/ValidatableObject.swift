public import PolystoreStorage

/// An object with rules that its declaration cannot express.
/// ```swift
/// extension Meeting: ValidatableObject {
///     func validate() throws {
///         if end < start { throw ValidationFailure("end", "must not be before the start") }
///     }
/// }
/// ```
public protocol ValidatableObject: ManagedObject {
    /// Validates the object. Called at commit for each new or changed object. Throws the violation: a `ValidationFailure`, several of them
    /// as `ValidationFailures`, or another error, which counts as one failure of the object.
    ///
    /// The method is called before anything is written, and must not change anything.
    func validate() throws
}

/// Several rule violations of one object.
public struct ValidationFailures: Error, Sendable {
    /// The failures.
    public let failures: [ValidationFailure]

    /// Creates an error from several failures.
    public init(_ failures: [ValidationFailure]) { self.failures = failures }
}

/// An object that is notified before it is saved, for example to update derived values.
public protocol SaveAwareObject: ManagedObject {
    /// Prepares the object for saving. Called at commit for each new or changed object, before the rules are validated. The method may
    /// change this object and others, create and delete objects. Objects that it changes are called too, if they were not yet.
    func willSave()
}

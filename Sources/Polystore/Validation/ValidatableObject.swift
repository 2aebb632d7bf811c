public import PolystoreStorage

/// An object with rules that its declaration cannot say.
/// ```swift
/// extension Meeting: ValidatableObject {
///     func validate() throws {
///         if end < start { throw ValidationFailure("end", "must not be before the start") }
///     }
/// }
/// ```
public protocol ValidatableObject: ManagedObject {
    /// Called at commit for each new or changed object; throws what does not hold: a `ValidationFailure`, several of them as
    /// `ValidationFailures`, or an error of another kind, which counts as one failure of the object.
    ///
    /// It is called before anything is written, and must not change anything.
    func validate() throws
}

/// Several rules that one object does not keep.
public struct ValidationFailures: Error, Sendable {
    /// The failures.
    public let failures: [ValidationFailure]

    /// Failures to be thrown together.
    public init(_ failures: [ValidationFailure]) { self.failures = failures }
}

/// An object that wants to know that it is about to be saved, to bring derived values up to date.
public protocol SaveAwareObject: ManagedObject {
    /// Called at commit for each new or changed object, before the rules are checked. It may change this object and others, create and
    /// delete; those that it changes are called too, if they were not yet.
    func willSave()
}

internal import PolystoreStorage

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

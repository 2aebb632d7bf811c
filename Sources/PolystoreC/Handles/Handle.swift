/// An object that a program refers to by a handle.
protocol Handle: AnyObject, Sendable {
    /// What the object is, for messages.
    static var noun: String { get }
    /// Ends the work of the object after its last handle was released.
    func end()
}

extension Handle {
    func end() {}
}

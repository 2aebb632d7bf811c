/// A watch for changes by other writers. It ends when it is released.
public protocol ChangeWatch: AnyObject, Sendable {
    /// Ends the watch. After the return no notification is delivered. A second call does nothing.
    func cancel()
}

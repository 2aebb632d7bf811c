internal import PolystoreStorage

/// The end of a page, after which the next one begins. Its text form can be sent to a client and back.
///
/// It contains the values of the sort keys and the object's key, not a number of objects, so insertions and deletions before it have no
/// effect. It is signed with the secret of the stack and bound to the request: a modified cursor, or one of another request, is refused. It
/// is not encrypted: a client can read the values of the sort keys in it.
public struct PageCursor: Sendable, Hashable, Codable, CustomStringConvertible, LosslessStringConvertible {
    /// The text.
    public let description: String

    /// Creates a cursor from its text, which is validated when the cursor is used.
    public init(_ description: String) { self.description = description }
}

/// A member of an object.
package struct JSONMember: Sendable, Hashable {
    /// The name of the member.
    package let name: String
    /// The value of the member.
    package let node: JSONNode
    /// The line of the name, counted from 1.
    package let line: Int
}

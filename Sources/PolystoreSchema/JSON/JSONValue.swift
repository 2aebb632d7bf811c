/// A JSON document with the line of each value. Numbers are kept as written.
package indirect enum JSONValue: Sendable, Hashable {
    /// The value `null`.
    case null
    /// The value `true` or `false`.
    case bool(Bool)
    /// A number as text, so that no digit is lost.
    case number(String)
    /// A string.
    case string(String)
    /// An array.
    case array([JSONNode])
    /// An object, with names and values in order of appearance.
    case object([JSONMember])
}

/// A text that is compared by its bytes, as every store does. Swift's `==` also takes those for equal that differ in their normalization, so
/// what is kept under a `String` for one of them answers for the other.
public struct ExactText: Sendable, Hashable {
    /// The text.
    public let text: String

    /// The text by its bytes.
    public init(_ text: String) { self.text = text }

    /// Whether two texts have the same bytes.
    public static func == (a: ExactText, b: ExactText) -> Bool { a.text.utf8.elementsEqual(b.text.utf8) }

    /// Hashes the bytes.
    public func hash(into hasher: inout Hasher) {
        var text = text
        text.withUTF8 { hasher.combine(bytes: UnsafeRawBufferPointer($0)) }
        hasher.combine(text.utf8.count)
    }
}

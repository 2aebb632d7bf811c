/// A text that is compared by its bytes, as every store does. Swift's `==` also takes those for equal that differ in their normalization, so
/// what is kept under a `String` for one of them answers for the other.
public struct ExactText: Sendable, Hashable {
    /// The text.
    public let text: String

    /// The text by its bytes.
    public init(_ text: String) { self.text = text }

    /// Whether two texts have the same bytes.
    public static func == (a: ExactText, b: ExactText) -> Bool { a.text.utf8.elementsEqual(b.text.utf8) }

    /// The least text, by bytes, that is above every text that begins with a prefix; nil where there is none.
    package static func end(of prefix: String) -> String? {
        var scalars = Array(prefix.unicodeScalars)
        while let last = scalars.popLast() {
            // Behind U+D7FF come the surrogates, which are no scalars.
            guard let next = Unicode.Scalar(last.value == 0xd7ff ? 0xe000 : last.value + 1) else { continue }
            var end = String.UnicodeScalarView()
            end.append(contentsOf: scalars + [next])
            return String(end)
        }
        return nil
    }

    /// Hashes the bytes.
    public func hash(into hasher: inout Hasher) {
        var text = text
        text.withUTF8 { hasher.combine(bytes: UnsafeRawBufferPointer($0)) }
        hasher.combine(text.utf8.count)
    }
}

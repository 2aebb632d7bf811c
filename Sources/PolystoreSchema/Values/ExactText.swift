internal import PolystoreFoundation

/// A string that is compared by its bytes, as in every store. Swift's `==` also considers strings equal that differ in their normalization,
/// so a dictionary with `String` keys would return the value of one for the other.
public struct ExactText: Sendable, Hashable {
    /// The string.
    public let text: String

    /// Creates a text with the bytes of a string.
    public init(_ text: String) { self.text = text }

    /// Returns whether two texts have the same bytes.
    public static func == (a: ExactText, b: ExactText) -> Bool {
        if a.text.utf8.count != b.text.utf8.count { return false }
        // Whole buffers: a comparison of the views element by element takes forty times as long.
        var first = a.text, second = b.text
        return first.withUTF8 { first in
            second.withUTF8 { second in
                guard let start = first.baseAddress, let other = second.baseAddress else { return first.isEmpty }
                return memcmp(start, other, first.count) == 0
            }
        }
    }

    /// Returns the least string, by bytes, that is greater than every string with a prefix, or nil if there is none.
    package static func end(of prefix: String) -> String? {
        var scalars = Array(prefix.unicodeScalars)
        while let last = scalars.popLast() {
            // U+D7FF is followed by the surrogates, which are not scalars.
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

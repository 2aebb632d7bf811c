internal import PolystoreStorage

/// The texts of fields that represent nil.
struct NilTexts {
    private let texts: Set<ExactText>
    /// The length of the longest one, in bytes. Most fields are longer than any.
    private let longest: Int

    /// Creates a set of texts.
    init(_ texts: some Sequence<String>) {
        self.texts = Set(texts.map(ExactText.init))
        longest = self.texts.map(\.text.utf8.count).max() ?? -1
    }

    /// Returns whether a text represents nil.
    func contains(_ text: String) -> Bool { text.utf8.count <= longest && texts.contains(ExactText(text)) }
}

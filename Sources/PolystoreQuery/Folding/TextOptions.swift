/// The differences that a comparison of texts ignores.
public struct TextOptions: OptionSet, Sendable, Hashable {
    /// The raw bits.
    public let rawValue: Int

    /// Creates options from their bits.
    public init(rawValue: Int) { self.rawValue = rawValue }

    /// Upper and lower case are equal: `[c]`.
    public static let caseInsensitive = TextOptions(rawValue: 1)
    /// Letters with and without marks are equal: `[d]`.
    public static let diacriticInsensitive = TextOptions(rawValue: 2)
    /// Both: `[cd]`.
    public static let caseAndDiacriticInsensitive: TextOptions = [.caseInsensitive, .diacriticInsensitive]

    /// The letters between the brackets of the text form, in alphabetical order.
    var letters: String { (contains(.caseInsensitive) ? "c" : "") + (contains(.diacriticInsensitive) ? "d" : "") }
}

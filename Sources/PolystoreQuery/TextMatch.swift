internal import PolystoreSchema

/// A kind of match of a text.
public enum TextMatch: String, Sendable, Hashable, CaseIterable {
    /// The text begins with the needle.
    case beginsWith
    /// The text ends with the needle.
    case endsWith
    /// The text contains the needle.
    case contains
    /// The whole text matches a pattern: `*` matches any run of characters, `?` one Unicode scalar, and `\` escapes them.
    case like
    /// The whole text matches a regular expression.
    case matches
    /// The text contains the words of a `SearchQuery`, ignoring case and diacritics.
    case search
}

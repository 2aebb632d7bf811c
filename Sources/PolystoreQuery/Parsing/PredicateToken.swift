internal import PolystoreSchema

/// One token of a predicate's text.
struct PredicateToken {
    enum Kind: Equatable {
        /// A name; `isQuoted` if a `#` before it marks it as not being a keyword.
        case name(String, isQuoted: Bool)
        /// `@count` and similar operations.
        case operation(String)
        /// `$x`.
        case variable(String)
        /// `%@` and similar placeholders.
        case placeholder(String)
        case number(String)
        case text(String)
        case symbol(String)
        case end
    }

    let kind: Kind
    /// The position of the first character, counted from 1.
    let position: Int
}

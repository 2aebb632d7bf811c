/// A token of SQL: a word, a literal or a symbol.
enum SQLToken: Hashable {
    /// An unquoted word.
    case word(String)
    /// A quoted name.
    case name(String)
    /// A text literal.
    case text(String)
    /// A number literal without a sign.
    case number(String)
    /// Any other token of one or two characters.
    case symbol(String)

    /// Whether the token is the given word, ignoring case.
    func isWord(_ word: String) -> Bool { if case .word(let text) = self { text.uppercased() == word } else { false } }

    /// The name, if the token is one or an unquoted word.
    var identifier: String? {
        switch self {
        case .word(let name), .name(let name): name
        case .text, .number, .symbol: nil
        }
    }

    func isSymbol(_ symbol: String) -> Bool { self == .symbol(symbol) }
}

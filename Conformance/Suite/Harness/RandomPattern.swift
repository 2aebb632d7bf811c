/// Random regular expressions that Foundation reads like the contract.
enum RandomPattern {
    private static let scalars = ["a", "b", "B", "z", "\u{e9}", "\u{301}", "😀", " ", "%", "_", "\\\\", "\\.", "\\*"]
    private static let classes = ["[ab]", "[^a]", "[a-z]", "[^b-\u{e9}]", "[\\]a]", "[a\\-\u{e9}]", "[\u{300}-\u{310}]", "[%_\\\\]"]
    private static let quantifiers = ["*", "+", "?", "{2}", "{0,2}", "{1,}", "{0}"]

    static func text(depth: Int = 3, using random: inout some RandomNumberGenerator) -> String {
        func pick(_ list: [String], _ random: inout some RandomNumberGenerator) -> String { list.randomElement(using: &random) ?? "" }
        switch Int.random(in: 0..<(depth > 0 ? 10 : 6), using: &random) {
        case 0, 1: return pick(scalars, &random)
        case 2: return pick(classes, &random)
        case 3: return "."
        case 4: return pick(["", "^a", "b$"], &random)
        case 5: return pick(scalars, &random) + pick(scalars, &random)
        case 6, 7: return text(depth: depth - 1, using: &random) + text(depth: depth - 1, using: &random)
        case 8: return "(\(text(depth: depth - 1, using: &random))|\(text(depth: depth - 1, using: &random)))"
        default: return "(?:\(text(depth: depth - 1, using: &random)))\(pick(quantifiers, &random))"
        }
    }
}

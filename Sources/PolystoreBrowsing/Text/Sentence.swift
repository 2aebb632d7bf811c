/// Messages of errors as sentences of a page.
enum Sentence {
    /// Returns the message with a capital letter and a full stop. A name before a colon keeps its first letter.
    static func text(_ message: String) -> String {
        let message = message.prefix(2000)
        let isEnded = message.last.map { ".?!…".contains($0) } ?? true
        let beginsWithName = message.prefix { $0 != " " }.last == ":"
        return (beginsWithName ? message.prefix(1) : message.prefix(1).uppercased()[...]) + message.dropFirst() + (isEnded ? "" : ".")
    }
}

#if PostgreSQL
internal import PolystoreSQL

/// The triggers of the owner that may undo a change: those that run after it, and those that replace the new row of an update.
struct PostgreSQLInPlaceAnswers: Sendable {
    /// The text from the server: the name of each table with such triggers, followed by its events.
    var text = ""

    /// Whether a table has such triggers for an event.
    func contains(_ table: String, _ event: PostgreSQLInPlaceEvent) -> Bool {
        if text.isEmpty { return false }
        let parts = text.split(separator: InPlaceLog.separator)
        for index in stride(from: 0, to: parts.count - 1, by: 2) where parts[index] == table {
            return (Int(parts[index + 1]) ?? 0) & event.rawValue != 0
        }
        return false
    }
}
#endif

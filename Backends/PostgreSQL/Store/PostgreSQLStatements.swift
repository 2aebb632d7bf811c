#if PostgreSQL
internal import PolystoreStorage

/// The statements that a connection has prepared on the server, by their text.
struct PostgreSQLStatements {
    private static let most = 200

    private var known: [ExactText: (name: String, use: Int)] = [:]
    private var uses = 0
    private var names = 0

    /// Returns the name of a statement, and whether it still has to be prepared.
    mutating func name(_ sql: String) -> (name: String, isNew: Bool) {
        let sql = ExactText(sql)
        uses += 1
        if let name = known[sql]?.name {
            known[sql] = (name, uses)
            return (name, false)
        }
        names += 1
        known[sql] = ("s\(names)", uses)
        return ("s\(names)", true)
    }

    mutating func forget(_ sql: String) { known[ExactText(sql)] = nil }

    mutating func forgetAll() { known.removeAll() }

    /// Returns the statements to remove before others are sent: if there are too many, the least recently used ones, and none of those
    /// wanted.
    ///
    /// - Returns: Their texts and names. It returns several at once, so that removal is rare.
    func superfluous(for wanted: Set<ExactText>) -> [(sql: String, name: String)] {
        let count = known.count + wanted.count { known[$0] == nil }
        if count <= Self.most { return [] }
        let others = known.filter { !wanted.contains($0.key) }.sorted { $0.value.use < $1.value.use }
        return others.prefix(count - Self.most * 3 / 4).map { ($0.key.text, $0.value.name) }
    }
}
#endif

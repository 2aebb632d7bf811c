#if PostgreSQL
internal import PolystoreStorage

/// The statements that a connection has prepared on the server, by their text.
struct PostgreSQLStatements {
    private static let most = 200

    private var known: [ExactText: (name: String, use: Int)] = [:]
    private var uses = 0
    private var names = 0

    /// Returns the name of a prepared statement, or nil if it still has to be prepared.
    mutating func knownName(_ sql: String) -> String? {
        let sql = ExactText(sql)
        // One lookup: hashing the text is most of its cost.
        guard let index = known.index(forKey: sql) else { return nil }
        uses += 1
        known.values[index].use = uses
        return known.values[index].name
    }

    /// Returns the name of a statement, and whether it still has to be prepared.
    mutating func name(_ sql: String) -> (name: String, isNew: Bool) {
        if let name = knownName(sql) { return (name, false) }
        let sql = ExactText(sql)
        uses += 1
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

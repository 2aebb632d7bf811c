internal import PolystoreStorage

/// The stored forms of data that cannot be decoded, as JSON objects, one on each line, and the pairs of removed rows.
struct UnreadableLines {
    private static let entriesAtOnce = 256

    private let session: ReadSession

    init(_ session: ReadSession) { self.session = session }

    /// Passes the lines of the data that a repair removes to `output`.
    ///
    /// - Throws: `staleObject` if a row no longer exists.
    func write(_ repair: StoreRepair, _ output: ([UInt8]) throws(StorageError) -> Void) throws(StorageError) {
        guard let stored = session.storedForms else { return }
        for (root, key) in rows(repair) {
            let columns = try stored.storedRow(root, key: key), name = session.schema.entities[root].name
            if columns.isEmpty {
                throw StorageError(.staleObject, "\(name) \(key) no longer exists; run the command again")
            }
            try output(Self.line([("entity", JSONWriter.quoted(name)), ("key", String(key))], columns))
        }
        for (link, pair) in pairs(repair) {
            let line = Self.object([
                ("link", JSONWriter.quoted(session.schema.links[link].name)), ("owner", String(pair.owner)), ("rank", String(pair.rank)),
                ("member", String(pair.member)),
            ])
            try output(Array((line + "\n").utf8))
        }
        for case .purgeHistory(let end) in repair.steps[.history] ?? [] {
            var last: Int64 = 0
            while case let entries = try stored.storedEntries(after: last, limit: Self.entriesAtOnce), let newest = entries.last?.position {
                for entry in entries where entry.position <= end {
                    try output(Self.line([("history", String(entry.position))], entry.columns))
                }
                if newest >= end { break }
                last = newest
            }
        }
    }

    /// The rows that are removed, or of which a value is removed, each once.
    private func rows(_ repair: StoreRepair) -> [(EntityIndex, Int64)] {
        var keys: [EntityIndex: Set<Int64>] = [:]
        for step in (repair.steps[.rows] ?? []).union(repair.steps[.references] ?? []) {
            switch step {
            case .removeRow(let root, let key): keys[root, default: []].insert(key)
            case .clearValue(let row, _): keys[session.schema[row.entity].root, default: []].insert(row.key)
            case .rebuildIndexes, .setVersion, .raiseKeys, .setReference, .addPair, .renumber, .appendMember, .removePair, .delete,
                .purgeHistory:
                break
            }
        }
        return keys.sorted { $0.key < $1.key }.flatMap { root, keys in keys.sorted().map { (root, $0) } }
    }

    /// The pairs that are removed because the row of their owner or of their member is, each once, in the order of their lists.
    private func pairs(_ repair: StoreRepair) -> [(link: Int, LinkPair)] {
        let schema = session.schema
        var rows: [EntityIndex: Set<Int64>] = [:]
        for case .removeRow(let root, let key) in repair.steps[.rows] ?? [] { rows[root, default: []].insert(key) }
        func isRemoved(_ key: Int64, _ entity: EntityIndex) -> Bool { rows[schema[entity].root]?.contains(key) ?? false }
        var found: [Int: Set<LinkPair>] = [:]
        for case .removePair(let link, let pair) in repair.steps[.members] ?? [] {
            let description = schema.links[link]
            if isRemoved(pair.owner, description.owner) || isRemoved(pair.member, description.member) {
                found[link, default: []].insert(pair)
            }
        }
        return found.sorted { $0.key < $1.key }.flatMap { link, pairs in
            pairs.sorted { ($0.owner, $0.rank, $0.member) < ($1.owner, $1.rank, $1.member) }.map { (link, $0) }
        }
    }

    private static func line(_ members: [(name: String, value: String)], _ columns: [StoredColumn]) -> [UInt8] {
        let parts = members + [("columns", "[\(columns.map(column).joined(separator: ","))]")]
        return Array((object(parts) + "\n").utf8)
    }

    /// Returns the JSON of a column: its bytes in hexadecimal digits, and as text if they are one.
    private static func column(_ column: StoredColumn) -> String {
        var members = [("name", JSONWriter.quoted(column.name)), ("type", JSONWriter.quoted(column.type))]
        guard let bytes = column.bytes else { return object(members + [("hex", "null")]) }
        let isText = !["bytes", "blob", "bytea"].contains(column.type)
        if isText, let text = bytes.withUnsafeBytes(String.init(utf8:)) { members.append(("text", JSONWriter.quoted(text))) }
        let hex = bytes.map { byte in (byte < 16 ? "0" : "") + String(byte, radix: 16) }.joined()
        return object(members + [("hex", "\"\(hex)\"")])
    }

    private static func object(_ members: [(name: String, value: String)]) -> String {
        "{\(members.map { "\(JSONWriter.quoted($0.name)):\($0.value)" }.joined(separator: ","))}"
    }
}

internal import Foundation
internal import PolystoreStorage

/// The rows that a target has refused, as its notes contain them, so that a repetition of the transfer leaves them out at once.
struct RefusedRows: Codable, Sendable {
    private struct Row: Codable {
        /// The name of the hierarchy in the source.
        let root: String
        let key: Int64
        let entity: String
        let property: String?
        /// The position of the reason, which many rows have in common.
        let reason: Int
        /// The digest of the row in the source, by which a later change is noticed.
        let digest: String
    }

    private var reasons: [String] = []
    private var rows: [Row] = []

    /// Describes the rows that a target has refused; nil if there are none.
    init?(_ refused: [RejectedRow], _ source: ReadSession) throws(StorageError) {
        if refused.isEmpty { return nil }
        var positions: [String: Int] = [:]
        for row in refused {
            guard let digest = try Self.digest(row.root, row.key, source) else { continue }
            let reason = positions[row.reason] ?? reasons.count
            if reason == reasons.count {
                reasons.append(row.reason)
                positions[row.reason] = reason
            }
            rows.append(
                Row(
                    root: source.schema.entities[row.root].name, key: row.key, entity: row.entity, property: row.property, reason: reason,
                    digest: digest))
        }
    }

    /// Returns the rows that are still the same in the source.
    func unchanged(in source: ReadSession) throws(StorageError) -> [RejectedRow] {
        var found: [RejectedRow] = []
        for row in rows {
            guard let root = source.schema.index(of: row.root), source.schema[root].root == root, reasons.indices.contains(row.reason),
                try Self.digest(root, row.key, source) == row.digest
            else { continue }
            found.append(RejectedRow(entity: row.entity, key: row.key, property: row.property, reason: reasons[row.reason], root: root))
        }
        return found
    }

    /// Returns the digest of a row; nil if it does not exist, or cannot be read.
    private static func digest(_ root: EntityIndex, _ key: Int64, _ source: ReadSession) throws(StorageError) -> String? {
        let batch = RowBatch(capacity: 1)
        do throws(StorageError) {
            try source.attempt { () throws(StorageError) in try source.rows(root, keys: [key], into: batch) }
        } catch {
            if error.code == .valueNotStorable { return nil }
            throw error
        }
        if batch.count == 0 { return nil }
        var digest = Digest()
        Contents(source).add(batch, 0..<1, to: &digest)
        return digest.description
    }
}

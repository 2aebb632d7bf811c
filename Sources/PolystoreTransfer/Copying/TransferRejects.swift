public import PolystoreStorage

/// The rows that a transfer has left out, with their values in the source.
public struct TransferRejects {
    /// The rows, in the order of their hierarchies and keys.
    public let rows: [RejectedRow]
    private let reader: ReadSession
    private let model: MappedModel?
    private let rejects: RejectedRows
    /// The attributes that may have the nearest value, or nil, as paths in the source.
    private let accepted: Set<String>
    private var schema: Schema { model?.schema ?? reader.schema }

    init(_ rejects: RejectedRows, _ reader: ReadSession, _ model: MappedModel?, accepting accepted: Set<String>) {
        rows = rejects.sorted
        self.rejects = rejects
        self.reader = reader
        self.model = model
        self.accepted = accepted
    }

    /// Passes each row to `body` with its record: a JSON object on one line, which `polystore load` reads.
    ///
    /// A record has the names of the target: the entity, the key and the reason, beginning with `polystore_`, all attributes, and the keys of
    /// related objects. In place of a value that cannot be read in the source it has an object, which `polystore load` refuses until it is
    /// replaced.
    public func forEachRecord(_ body: (RejectedRow, String) throws(StorageError) -> Void) throws(StorageError) {
        for row in rows { try body(row, try record(row)) }
    }

    private func record(_ rejected: RejectedRow) throws(StorageError) -> String {
        let (origin, values) = try values(of: rejected), description = schema[model?.entities[origin] ?? origin]
        var members = [(ObjectRecord.entity, JSONWriter.quoted(description.name)), (ObjectRecord.key, String(rejected.key))]
        let conversions = model?.conversions[origin] ?? []
        for (index, slot) in description.slots.enumerated() {
            guard var value = values[index] else {
                members.append((slot.name, "{\(JSONWriter.quoted(ObjectRecord.unreadable)):true}"))
                continue
            }
            if let conversion = conversions.first(where: { $0.slot == index }), !value.isNull {
                // What cannot be copied stays as it is, and is refused until it is corrected.
                value = conversion.convert(value, accepting: accepted) ?? value
            }
            members.append((slot.name, JSONWriter.write(ValueText.json(value))))
        }
        members += try relatedKeys(rejected.key, origin)
        if let property = rejected.property { members.append((ObjectRecord.property, JSONWriter.quoted(property))) }
        members.append((LoadRejects.reasonName, JSONWriter.quoted(rejected.reason)))
        return "{\(members.map { "\(JSONWriter.quoted($0)):\($1)" }.joined(separator: ","))}"
    }

    /// Returns the entity of a row in the source, and its values there. Those that cannot be read are missing.
    private func values(of rejected: RejectedRow) throws(StorageError) -> (EntityIndex, [Int: Value]) {
        let batch = RowBatch(capacity: 1)
        do throws(StorageError) {
            try reader.attempt { () throws(StorageError) in try reader.rows(rejected.root, keys: [rejected.key], into: batch) }
        } catch {
            if error.code != .valueNotStorable { throw error }
            let row = try UnreadableRow(rejected.key, rejected.root, reader)
            return (row.entity, row.values)
        }
        guard batch.count > 0 else {
            throw StorageError(.notFound, "\(rejected.entity) \(rejected.key) is no longer in the source")
        }
        let row = batch.row(0)
        var values: [Int: Value] = [:]
        for (index, slot) in reader.schema[row.entity].slots.enumerated() { values[index] = Value(row[index], as: slot.type) }
        return (row.entity, values)
    }

    /// Returns the keys of the objects in the to-many relationships of an object that are kept in link tables, where there are any.
    private func relatedKeys(_ key: Int64, _ origin: EntityIndex) throws(StorageError) -> [(String, String)] {
        var found: [(String, String)] = []
        for (position, item) in reader.schema[origin].relationships.enumerated() {
            guard case .link(let link, let side) = item.place else { continue }
            let description = reader.schema.links[link]
            let other = reader.schema[side == .owner ? description.member : description.owner].root
            var keys: [Int64] = []
            try reader.links(link, side: side, keys: [key]) { pairs throws(StorageError) in
                for pair in pairs { keys.append(side == .owner ? pair.member : pair.owner) }
            }
            // A pair of two rejected rows is in the record of its owner.
            if side == .member { keys.removeAll { rejects.contains($0, other) } }
            if keys.isEmpty { continue }
            let name = schema[model?.entities[origin] ?? origin].relationships[position].relationship.name
            found.append((name, "[\(keys.map(String.init).joined(separator: ","))]"))
        }
        return found
    }
}

/// Related rows that are read from a session in blocks and kept while a batch is examined.
///
/// A missing row is read together with the rows that the same reference of the other rows of the batch references. This takes one call of
/// the session for each batch and each step of a key path, instead of one call for each row.
package final class StoredRows: RelatedRows {
    private struct Place: Hashable {
        let root: EntityIndex
        let key: Int64
    }

    private struct Way: Hashable {
        let entity: EntityIndex
        let root: EntityIndex
    }

    private enum Found {
        case missing
        case at(RowBatch, Int)

        var row: RowView? { if case .at(let batch, let index) = self { batch.row(index) } else { nil } }
    }

    private struct Source {
        let rows: RowBatch
        /// The index of the row whose reference was followed last. Rows are mostly examined in order, so the next one is the same row or a
        /// later one.
        var last = 0
    }

    /// The number of rows that are read at once.
    private static let block = 1024
    /// The maximum number of rows that are kept from one batch to the next.
    private static let most = 8192

    private let reader: () throws(StorageError) -> any StorageReader
    private let schema: Schema
    /// The slots that are read in the rows of a hierarchy, or nil for all.
    private let fields: [EntityIndex: SlotMask]?
    private let count: ResidualCount?
    private var members: StoredMembers
    private var found: [Place: Found] = [:]
    /// The rows whose references may be followed: the batch that is examined, and the rows that were read for it.
    private var sources: [Source] = []
    /// The slots of an entity that reference a hierarchy.
    private var ways: [Way: [Int]] = [:]
    private var failure: StorageError?

    /// Creates an accessor for the related rows of a session.
    package convenience init(_ session: ReadSession) { self.init(session.reader, session.schema) }

    /// Creates an accessor that requests its session whenever it reads.
    package init(_ session: @escaping () throws(StorageError) -> ReadSession, _ schema: Schema) {
        reader = { () throws(StorageError) in try session().reader }
        self.schema = schema
        fields = nil
        count = nil
        members = StoredMembers(schema, nil, counting: nil)
    }

    /// Creates an accessor for the related rows of a store's own session.
    ///
    /// - Parameters:
    ///   - fields: The slots that are read in the rows of each hierarchy, or nil for all.
    ///   - count: Counts the rows as related ones.
    init(_ reader: any StorageReader, _ schema: Schema, fields: [EntityIndex: SlotMask]? = nil, counting count: ResidualCount? = nil) {
        self.reader = { () throws(StorageError) in reader }
        self.schema = schema
        self.fields = fields
        self.count = count
        members = StoredMembers(schema, fields, counting: count)
    }

    /// Sets the rows that are examined next. The rows that they reference are read together. Rows that were returned before become invalid.
    package func begin(_ batch: RowBatch) {
        sources = [Source(rows: batch)]
        members.forget()
        if found.count > Self.most { found.removeAll() }
    }

    /// Returns the row with a primary key. Returns nil if there is none or if reading failed; `throwFailure` throws the error.
    package func row(_ entity: EntityIndex, _ key: Int64) -> RowView? {
        let place = Place(root: schema[entity].root, key: key)
        if let known = found[place] { return known.row }
        do throws(StorageError) { try read(place.root, neighbours(of: place)) } catch { failure = failure ?? error }
        return found[place]?.row
    }

    private func read(_ root: EntityIndex, _ keys: [Int64]) throws(StorageError) {
        for key in keys { found[Place(root: root, key: key)] = .missing }
        let batch = RowBatch(capacity: keys.count)
        try reader().rows(root, keys: keys, fields?[root], schema, into: batch)
        count?.related += batch.count
        for index in 0..<batch.count { found[Place(root: root, key: batch.key(index))] = .at(batch, index) }
        if !sources.isEmpty, batch.count > 0 { sources.append(Source(rows: batch)) }
    }

    /// Returns a primary key together with the keys that the same reference has in later rows, in ascending order.
    ///
    /// - Complexity: If rows are examined in order, each row is visited once for each reference.
    private func neighbours(of place: Place) -> [Int64] {
        for position in sources.indices {
            let source = sources[position]
            for index in [source.last..<source.rows.count, 0..<source.last].joined() {
                guard let slot = reference(source.rows.row(index), to: place) else { continue }
                sources[position].last = index
                return keys(source.rows, index, slot, place)
            }
        }
        return [place.key]
    }

    /// Returns the slot through which a row references another row.
    private func reference(_ row: borrowing RowView, to place: Place) -> Int? {
        for slot in references(row.entity, to: place.root) where row[slot].kind == .int && row[slot].int == place.key { return slot }
        return nil
    }

    private func keys(_ rows: RowBatch, _ first: Int, _ slot: Int, _ place: Place) -> [Int64] {
        var keys: Set<Int64> = [place.key]
        let entity = rows.row(first).entity
        for index in first..<rows.count {
            if keys.count == Self.block { break }
            let row = rows.row(index)
            guard row.entity == entity, row[slot].kind == .int else { continue }
            if found[Place(root: place.root, key: row[slot].int)] == nil { keys.insert(row[slot].int) }
        }
        return keys.sorted()
    }

    private func references(_ entity: EntityIndex, to root: EntityIndex) -> [Int] {
        let way = Way(entity: entity, root: root)
        if let known = ways[way] { return known }
        var found: [Int] = []
        // A closure over the slots ends the release compiler of Swift 6.3.1 ("Found ownership error").
        for (position, slot) in schema[entity].slots.enumerated() {
            guard let destination = slot.destination else { continue }
            if schema[destination].root == root { found.append(position) }
        }
        ways[way] = found
        return found
    }

    /// Calls `body` with the destination rows of a to-many relationship, or not at all if reading failed; `throwFailure` throws the error.
    ///
    /// The destination rows of the other rows being examined are read at the same time, unless there are too many.
    package func members(_ entity: EntityIndex, _ relationship: Int, of key: Int64, _ body: (borrowing RowView) -> Bool) {
        do throws(StorageError) {
            if !sources.isEmpty, !members.areKnown(entity, relationship, of: key) {
                let owners = sources.map(\.rows), reader = try reader()
                if let rows = try members.read(entity, relationship, of: key, beside: owners, reader) { sources.append(Source(rows: rows)) }
            }
            if let rows = members.rows(entity, relationship, of: key) {
                for index in rows.positions where !body(rows.batch.row(index)) { return }
            } else {
                try MemberRows(reader(), schema, counting: count).forEach(entity, relationship, of: key, body)
            }
        } catch {
            failure = failure ?? error
        }
    }

    /// Throws the first error that occurred while reading.
    package func throwFailure() throws(StorageError) { if let failure { throw failure } }
}

/// Related rows read from a session in blocks, and kept as long as a batch is looked at.
///
/// A row that is not there yet is read together with those that the same reference of the other rows of the batch leads to: one call of the
/// session for each batch and step of a key path, not one for each row.
public final class StoredRows: RelatedRows {
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
        /// The row with the reference that was followed last: rows are mostly looked at in their order, so the next is the same or behind.
        var last = 0
    }

    /// So many rows are read at once.
    private static let block = 1024
    /// More than so many are not kept from one batch to the next.
    private static let most = 8192

    private let reader: () throws(StorageError) -> any StorageReader
    private let schema: Schema
    /// What is read of the rows of a hierarchy; nil for all.
    private let fields: [EntityIndex: SlotMask]?
    private var members: StoredMembers
    private var found: [Place: Found] = [:]
    /// What has references to rows that may be asked for: the batch that is looked at, and what was read for it.
    private var sources: [Source] = []
    /// The slots of an entity that lead to a hierarchy.
    private var ways: [Way: [Int]] = [:]
    private var failure: StorageError?

    /// The rows that a session sees.
    public convenience init(_ session: ReadSession) { self.init(session.reader, session.schema) }

    /// The rows that a session sees which is asked for when something is read.
    public init(_ session: @escaping () throws(StorageError) -> ReadSession, _ schema: Schema) {
        reader = { () throws(StorageError) in try session().reader }
        self.schema = schema
        fields = nil
        members = StoredMembers(schema, nil)
    }

    /// The rows that a session of a store itself sees.
    ///
    /// - Parameter fields: The slots that are looked at in the rows of each hierarchy; nil for all.
    init(_ reader: any StorageReader, _ schema: Schema, fields: [EntityIndex: SlotMask]? = nil) {
        self.reader = { () throws(StorageError) in reader }
        self.schema = schema
        self.fields = fields
        members = StoredMembers(schema, fields)
    }

    /// Names the rows that are looked at next: what they lead to is read together. Rows that were handed out before are not valid any more.
    public func begin(_ batch: RowBatch) {
        sources = [Source(rows: batch)]
        members.forget()
        if found.count > Self.most { found.removeAll() }
    }

    /// The row of a key; nil when there is none, or when reading failed, which `throwFailure` tells.
    public func row(_ entity: EntityIndex, _ key: Int64) -> RowView? {
        let place = Place(root: schema[entity].root, key: key)
        if let known = found[place] { return known.row }
        do throws(StorageError) { try read(place.root, neighbours(of: place)) } catch { failure = failure ?? error }
        return found[place]?.row
    }

    private func read(_ root: EntityIndex, _ keys: [Int64]) throws(StorageError) {
        for key in keys { found[Place(root: root, key: key)] = .missing }
        let batch = RowBatch(capacity: keys.count)
        try reader().rows(root, keys: keys, fields?[root], schema, into: batch)
        for index in 0..<batch.count { found[Place(root: root, key: batch.key(index))] = .at(batch, index) }
        if !sources.isEmpty, batch.count > 0 { sources.append(Source(rows: batch)) }
    }

    /// A key with those that the reference that led to it has in the rows behind, ascending.
    ///
    /// - Complexity: where rows are looked at in their order, each is passed once for each reference.
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

    /// The slot by which a row leads to a place.
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

    /// The rows that a to-many relationship leads to; none when reading failed, which `throwFailure` tells.
    ///
    /// Those of the other rows that are looked at are read with them, as long as they are not too many.
    public func members(_ entity: EntityIndex, _ relationship: Int, of key: Int64, _ body: (borrowing RowView) -> Bool) {
        do throws(StorageError) {
            if !sources.isEmpty, !members.areKnown(entity, relationship, of: key) {
                let owners = sources.map(\.rows), reader = try reader()
                if let rows = try members.read(entity, relationship, of: key, beside: owners, reader) { sources.append(Source(rows: rows)) }
            }
            if let rows = members.rows(entity, relationship, of: key) {
                for index in rows.positions where !body(rows.batch.row(index)) { return }
            } else {
                try MemberRows(reader(), schema).forEach(entity, relationship, of: key, body)
            }
        } catch {
            failure = failure ?? error
        }
    }

    /// Throws the first error that reading met.
    public func throwFailure() throws(StorageError) { if let failure { throw failure } }
}

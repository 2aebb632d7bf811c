import Foundation
import Polystore
import RawSessions
import TestStores

/// A store on its way between versions of a model, filled and read without objects.
struct VersionedStore {
    let store: any StorageInterface
    private(set) var schema: Schema

    init(_ kind: TestStore, _ schema: Schema) throws {
        store = kind.make()
        self.schema = schema
        _ = try store.open(OpenRequest(schema: schema))
    }

    /// The store with the version that it has now.
    var open: OpenStore {
        OpenStore(store, StorageState(storeID: UUID(), schema: schema, formatVersion: 1, wasCreated: false))
    }

    /// Leads the store to a schema.
    mutating func migrate(to next: Schema) throws {
        try MigrationRunner(SchemaHistory(next), open).run()
        schema = next
    }

    /// Leads the store back to a schema that it had.
    mutating func goBack(to older: Schema, losing losses: Set<String> = []) throws {
        try MigrationRunner(backTo: older, acceptedLosses: losses, open).run()
        schema = older
    }

    mutating func stamp(_ version: String) throws { schema = try VersionStamp(version).apply(to: open) }

    /// Closes the store, where it keeps what it has, and opens what is there.
    mutating func reopen() throws {
        guard store.capabilities.contains(.persistent) else { return }
        try store.close()
        schema = try store.open(OpenRequest(schema: nil, createIfMissing: false)).schema
    }

    @discardableResult
    func write(_ body: (any StorageWriter) throws -> Void) throws -> HistoryToken? {
        let writer = try store.beginWrite(WriteOptions())
        defer { writer.end() }
        try body(writer)
        return try writer.commit(CommitRecord())
    }

    func insert(_ name: String, _ rows: [[String: Value]]) throws {
        let entity = schema[schema.index(of: name) ?? 0]
        try write { writer in
            var keys: [Int64] = []
            while keys.count < rows.count { keys += Array(try writer.reserveKeys(entity.index, count: rows.count - keys.count)) }
            let source = RowSource(count: rows.count) { range, batch in
                for position in range {
                    let cells = entity.slots.map { batch.cell(for: rows[position][$0.name] ?? .null) }
                    batch.appendRow(key: keys[position], version: 1, entity: entity.index, slots: cells.count).update(
                        from: cells, count: cells.count)
                }
            }
            try writer.apply(ChangeSet(entities: [EntityChanges(entity: entity.index, inserts: source)]))
        }
    }

    func delete(_ name: String, _ keys: [Int64]) throws {
        let deletes = keys.map { RowDeletion(key: $0) }
        try write { try $0.apply(ChangeSet(entities: [EntityChanges(entity: schema.index(of: name) ?? 0, deletes: deletes)])) }
    }

    /// The rows of a request as texts: key, version and the values in their order.
    func rows(_ name: String, _ predicate: String? = nil) throws -> [String] {
        let plan = try ObjectRequest(name, where: predicate.map { try QueryPredicate(parsing: $0) }).plan(in: schema)
        let reader = try open.beginRead()
        defer { reader.end() }
        let cursor = try reader.cursor(for: plan), batch = RowBatch()
        var rows: [String] = []
        while try cursor.next(into: batch) {
            for index in 0..<batch.count {
                let row = batch.row(index), slots = schema[row.entity].slots
                let values = slots.indices.map { slot in Value(row[slot], as: slots[slot].type).map(\.text) ?? "?" }
                rows.append("\(row.key)v\(row.version) \(values.joined(separator: " "))")
            }
        }
        return rows
    }

    /// The newest token, once it has reached one that is known: a server shows only what no running transaction can precede any more.
    func token(after known: HistoryToken?) throws -> HistoryToken? {
        var found: HistoryToken?
        for _ in 0..<2000 {
            let reader = try open.beginRead()
            defer { reader.end() }
            found = try reader.currentToken()
            if found?.position ?? 0 >= known?.position ?? 0 { break }
            Thread.sleep(forTimeInterval: 0.01)
        }
        return found
    }
}

extension Value {
    fileprivate var text: String {
        if case .string(let text) = self { return text }
        if case .int(let number) = self { return String(number) }
        return isNull ? "nil" : "?"
    }
}

internal import Foundation
internal import PolystoreStorage

/// Finds the objects that differ between two stores with the same schema, by reading both in key order. Versions are not compared.
///
/// The memory that it needs does not depend on the number of objects. Objects are matched by their primary keys.
struct StoreComparison {
    private let first: ReadSession
    private let second: ReadSession
    private let limit: WorkLimit?
    private let progress: WorkProgress?
    private var schema: Schema { first.schema }

    /// The number of objects whose link tables are compared at once.
    private static let blockSize = 4096

    init(
        _ first: ReadSession, _ second: ReadSession, _ limit: WorkLimit?, _ report: TransferEngine.Report?
    ) throws(StorageError) {
        if first.schema.hash != second.schema.hash {
            let difference = SchemaDifference.first(from: first.schema, to: second.schema)?.description ?? "the hashes differ"
            throw StorageError(.schemaMismatch, "the stores have different schemas, so their objects cannot be compared: \(difference)")
        }
        self.first = first
        self.second = second
        self.limit = limit
        progress = WorkProgress(reading: [first, second], report)
    }

    /// Passes each difference to `body`, entity by entity in key order.
    func differences(_ body: (RowDifference) throws(StorageError) -> Void) throws(StorageError) {
        for root in schema.roots { try compare(root, body) }
    }

    private func compare(_ root: EntityIndex, _ body: (RowDifference) throws(StorageError) -> Void) throws(StorageError) {
        var a = try RowScan(first, .first, root), b = try RowScan(second, .second, root)
        let links = schema.links.indices.filter { schema[schema.links[$0].owner].root == root }
        var shared: [(key: Int64, entity: EntityIndex)] = [], count = 0, reported = 0
        func compareLinks() throws(StorageError) {
            for link in links { try compare(link, shared, body) }
            shared.removeAll(keepingCapacity: true)
        }
        while true {
            count += 1
            if count % Self.blockSize == 0 {
                try limit?.check()
                let rows = a.count + b.count
                progress?.add(rows - reported, of: name(root))
                reported = rows
            }
            switch (a.key, b.key) {
            case (nil, nil): return try compareLinks()
            case (let key?, let other) where other.map({ key < $0 }) ?? true:
                try body(RowDifference(entity: name(a.entity), key: key, kind: .onlyInFirst))
                try a.advance()
            case (let other, let key?) where other.map({ key < $0 }) ?? true:
                try body(RowDifference(entity: name(b.entity), key: key, kind: .onlyInSecond))
                try b.advance()
            case (let key?, _):
                if let kind = try difference(a, b, key) { try body(RowDifference(entity: name(a.entity), key: key, kind: kind)) }
                if !links.isEmpty { shared.append((key, a.entity)) }
                if shared.count == Self.blockSize { try compareLinks() }
                try a.advance()
                try b.advance()
            case (nil, _): return try compareLinks()
            }
        }
    }

    private func name(_ entity: EntityIndex) -> String { schema.entities[entity].name }

    /// Returns the difference between the current rows of two scans, which have the same key.
    private func difference(_ a: RowScan, _ b: RowScan, _ key: Int64) throws(StorageError) -> RowDifference.Kind? {
        if a.entity != b.entity { return .entities(first: name(a.entity), second: name(b.entity)) }
        var properties: [RowDifference.Property] = []
        for (index, slot) in schema[a.entity].slots.enumerated() where !a.cell(index).isIdentical(to: b.cell(index)) {
            func value(_ scan: RowScan) throws(StorageError) -> Value {
                if let value = Value(scan.cell(index), as: slot.type) { return value }
                throw StorageError(
                    .corrupted,
                    "the \(scan.store.rawValue) store: \(name(a.entity)).\(slot.name) of object \(key) contains ill-formed bytes; restore a "
                        + "backup of the store",
                    details: .init(entity: name(a.entity), property: slot.name, keys: [key]))
            }
            let first = try value(a), second = try value(b)
            properties.append(RowDifference.Property(name: slot.name, first: first, second: second))
        }
        return properties.isEmpty ? nil : .properties(properties)
    }

    /// Compares the members that objects of both stores have in a link table.
    private func compare(
        _ link: Int, _ owners: [(key: Int64, entity: EntityIndex)], _ body: (RowDifference) throws(StorageError) -> Void
    ) throws(StorageError) {
        let description = schema.links[link], family = Set(schema[description.owner].family)
        let owners = owners.filter { family.contains($0.entity) }, keys = owners.map(\.key)
        if keys.isEmpty { return }
        let a = try ComparedStore.first.reading { () throws(StorageError) in try members(link, keys, first) }
        let b = try ComparedStore.second.reading { () throws(StorageError) in try members(link, keys, second) }
        for (key, entity) in owners where a[key] != b[key] {
            let kind = RowDifference.Kind.members(
                relationship: description.ownerRelationship, first: a[key] ?? [], second: b[key] ?? [])
            try body(RowDifference(entity: name(entity), key: key, kind: kind))
        }
    }

    /// Returns the members of each owner in their order, or in the order of their keys if the relationship is not ordered.
    private func members(_ link: Int, _ keys: [Int64], _ session: ReadSession) throws(StorageError) -> [Int64: [Int64]] {
        var members: [Int64: [Int64]] = [:]
        try session.links(link, side: .owner, keys: keys) { pairs throws(StorageError) in
            for pair in pairs { members[pair.owner, default: []].append(pair.member) }
        }
        return schema.links[link].isOrdered ? members : members.mapValues { $0.sorted() }
    }
}

extension Cell {
    /// Whether two cells have the same kind and the same bits or bytes.
    func isIdentical(to other: Cell) -> Bool {
        if kind != other.kind { return false }
        switch kind {
        case .null: return true
        case .int, .real: return bits == other.bits
        case .text, .blob:
            guard length == other.length, let start = bytes.baseAddress, let otherStart = other.bytes.baseAddress else {
                return length == other.length
            }
            return memcmp(start, otherStart, bytes.count) == 0
        }
    }
}

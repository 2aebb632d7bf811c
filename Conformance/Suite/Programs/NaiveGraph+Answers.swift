internal import Foundation
internal import PolystoreStorage

/// The decisions of a store about the objects of a program: their keys, and the order of their ids.
struct ProgramIDs {
    var keys: [Int: Int64] = [:]
    var positions: [Int: Int] = [:]
}

/// The results of requests. Values that the reference cannot compute are nil: an overflow, or a value that depends on the order of an
/// addition.
extension NaiveGraph {
    /// Returns the objects as rows for the reference.
    ///
    /// - Parameter ids: The ids of the objects in the store.
    func reference(_ ids: ProgramIDs) -> ReferenceStore {
        let all = objects.values.sorted { $0.number < $1.number }
        let rows = all.map { object -> Row in
            var values = object.values
            for item in schema.description(object.entity).relationships where item.relationship.cardinality == .toOne {
                values[item.relationship.name] =
                    members(object.number, item.relationship.name).first.map { .int(ids.keys[$0] ?? -1) } ?? .null
            }
            return Row(key: Int64(object.number), entity: object.entity, version: 1, values: values)
        }
        var store = ReferenceStore(rows: rows)
        store.schema = schema
        store.related = Dictionary(
            uniqueKeysWithValues: all.map { (Int64($0.number), $0.related.mapValues { $0.map { Int64($0) } }) })
        store.positions = Dictionary(uniqueKeysWithValues: ids.positions.map { (Int64($0.key), $0.value) })
        store.identities = Dictionary(uniqueKeysWithValues: ids.keys.map { (Int64($0.key), $0.value) })
        return store
    }

    /// Returns the numbers of the objects that a request finds, in its order.
    func fetch(_ request: ProgramRequest, _ ids: ProgramIDs) -> [Int]? {
        var whole = request.fetch
        whole.limit = nil
        whole.offset = 0
        let store = reference(ids)
        let found = store.fetch(whole).map { Int($0.key) }.filter { isIn($0, request.home) }
        if store.isUnknown.withLock({ $0 }) { return nil }
        let rest = found.dropFirst(request.fetch.offset)
        return Array(request.fetch.limit.map { rest.prefix($0) } ?? rest)
    }

    private func isIn(_ number: Int, _ home: Int?) -> Bool { home == nil || objects[number]?.home == home }

    /// Returns the rows of a query.
    func query(_ query: ProgramQuery, _ ids: ProgramIDs) -> [[Value]]? {
        let store = reference(ids), fetch = query.request.fetch
        let isGrouped = !query.keys.isEmpty || query.outputs.contains { $0.expression.isAggregate }
        var whole = fetch
        (whole.limit, whole.offset) = (nil, 0)
        if isGrouped { whole.order = [] }
        let found = store.fetch(whole).filter { isIn(Int($0.key), query.request.home) }
        var rows: [[Value]] = []
        if isGrouped {
            guard let groups = groups(query, found, store) else { return nil }
            rows = groups
        } else {
            rows = found.map { row in query.outputs.map { store.operand($0.expression, row) } }
            if query.isDistinct { rows = Self.distinct(rows) }
        }
        if store.isUnknown.withLock({ $0 }) { return nil }
        let rest = rows.dropFirst(fetch.offset)
        return Array(fetch.limit.map { rest.prefix($0) } ?? rest)
    }

    private static func distinct(_ rows: [[Value]]) -> [[Value]] {
        var seen: [[Value]] = []
        for row in rows where !seen.contains(where: { order($0, row) == 0 }) { seen.append(row) }
        return seen
    }

    private static func order(_ a: [Value], _ b: [Value]) -> Int {
        for (x, y) in zip(a, b) where ReferenceStore.order(x, y) != 0 { return ReferenceStore.order(x, y) }
        return 0
    }

    private func groups(_ query: ProgramQuery, _ found: [Row], _ store: ReferenceStore) -> [[Value]]? {
        var groups: [(keys: [Value], members: [Row])] = query.keys.isEmpty ? [([], found)] : []
        for row in found where !query.keys.isEmpty {
            let keys = query.keys.map { store.operand($0, row) }
            if let index = groups.firstIndex(where: { Self.order($0.keys, keys) == 0 }) {
                groups[index].members.append(row)
            } else {
                groups.append((keys, [row]))
            }
        }
        var rows: [(keys: [Value], row: [Value])] = []
        for group in groups {
            var row: [Value] = []
            for output in query.outputs {
                guard let value = value(output.expression, group, query, store) else { return nil }
                row.append(value)
            }
            if case .compare(let left, let comparison, let right)? = query.having?.node, case .value(let bound) = right.node {
                guard let value = value(left, group, query, store) else { return nil }
                if !store.holds(value, comparison, bound) { continue }
            }
            rows.append((group.keys, row))
        }
        return rows.sorted { a, b in
            for key in query.request.fetch.order {
                guard let position = query.outputs.firstIndex(where: { $0.expression == key.expression }) else { continue }
                let order = ReferenceStore.order(a.row[position], b.row[position])
                if order != 0 { return key.ascending ? order < 0 : order > 0 }
            }
            return Self.order(a.keys, b.keys) < 0
        }.map(\.row)
    }

    /// Returns the value of an output for a group; nil if it is unknown.
    private func value(
        _ expression: QueryExpression, _ group: (keys: [Value], members: [Row]), _ query: ProgramQuery, _ store: ReferenceStore
    ) -> Value? {
        if let position = query.keys.firstIndex(of: expression) { return group.keys[position] }
        guard case .aggregate(let aggregate) = expression.node else { return nil }
        guard let argument = aggregate.argument else { return .int(Int64(group.members.count)) }
        let values = group.members.map { store.operand(argument, $0) }
        let type = store.type(argument, of: query.request.fetch.entity)
        if ![.count, .countDistinct, .minimum, .maximum].contains(aggregate.function), Self.dependsOnOrder(values) { return nil }
        return store.aggregate(aggregate.function, values, type)
    }

    /// Returns whether a total of values depends on the order of addition.
    private static func dependsOnOrder(_ values: [Value]) -> Bool {
        values.contains { value in
            switch value {
            case .double(let number): abs(number) > 1e6 || (number != 0 && abs(number) < 1e-6)
            case .decimal(let number): abs(number) > 1_000_000 || number.significand.description.count > 15
            case .int(let number): abs(number / 2) > 1_000_000
            case .null, .bool, .string, .date, .uuid, .data: false
            }
        }
    }
}

extension QueryExpression {
    /// Whether the expression is an aggregate over a group.
    var isAggregate: Bool { if case .aggregate = node { true } else { false } }
}

internal import PolystoreStorage

/// The stored values that the transformers of a step have forgotten, and whose loss is not accepted.
struct ForgottenValues {
    /// The attributes of the older version, each with its counterparts in the newer version and the path of one of them.
    private var groups: [(attributes: [ForgottenAttribute], path: String)] = []
    private let schema: Schema

    /// Creates the values that a session of the older version has.
    ///
    /// - Parameters:
    ///   - schema: The newer version.
    ///   - accepted: The paths of accepted losses. One counterpart of an attribute is enough.
    init(
        _ forgotten: [ForgottenAttribute], _ schema: Schema, accepted: Set<String>, in source: ReadSession
    ) throws(StorageError) {
        self.schema = schema
        for group in Self.groups(forgotten) {
            let first = group[0], former = Self.path(source.schema, first.source, first.sourceSlot)
            let paths = group.map { Self.path(schema, $0.destination, $0.slot) }
            if !accepted.isDisjoint(with: paths) { continue }
            guard try MigrationLosses.isStored(first.source, first.sourceSlot, source) else { continue }
            // An entity that is split mostly keeps its name for the part that has the attribute.
            groups.append((attributes: group, path: paths.contains(former) ? former : paths[0]))
        }
    }

    private static func groups(_ forgotten: [ForgottenAttribute]) -> [[ForgottenAttribute]] {
        var groups: [[ForgottenAttribute]] = []
        for attribute in forgotten {
            let index = groups.firstIndex { $0[0].source == attribute.source && $0[0].sourceSlot == attribute.sourceSlot }
            if let index { groups[index].append(attribute) } else { groups.append([attribute]) }
        }
        return groups
    }

    private static func path(_ schema: Schema, _ entity: EntityIndex, _ slot: Int) -> String {
        "\(schema[entity].name).\(schema[entity].slots[slot].name)"
    }

    /// The path of each attribute in the newer version, once.
    var paths: [String] {
        var paths: [String] = []
        for (_, path) in groups where !paths.contains(path) { paths.append(path) }
        return paths
    }

    /// Returns the values that work of the program after the step has not replaced: no object of the step has one other than the default.
    ///
    /// - Parameter limits: The first key of each hierarchy that no object of the step has. The work can have created objects from there on.
    func unassigned(in session: ReadSession, below limits: [EntityIndex: Int64]) throws(StorageError) -> ForgottenValues {
        var result = self
        result.groups = []
        for group in groups {
            var isAssigned = false
            for attribute in group.attributes where !isAssigned { isAssigned = try hasValue(attribute, session, limits) }
            if !isAssigned { result.groups.append(group) }
        }
        return result
    }

    private func hasValue(
        _ attribute: ForgottenAttribute, _ session: ReadSession, _ limits: [EntityIndex: Int64]
    ) throws(StorageError) -> Bool {
        let entity = schema[attribute.destination], slot = entity.slots[attribute.slot], limit = limits[entity.root] ?? .max
        let cursor = try session.cursor(for: FetchPlan(entity: entity.index, entities: [entity.index])), batch = RowBatch()
        while try cursor.next(into: batch) {
            for index in 0..<batch.count where batch.key(index) < limit {
                let cell = batch.row(index)[attribute.slot]
                if !cell.isNull, Value(cell, as: slot.type) != slot.attribute?.defaultValue { return true }
            }
        }
        return false
    }
}

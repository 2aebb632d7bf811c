internal import Foundation
internal import PolystoreStorage

/// The model of the history cases: items with an attribute of each kind, gadgets as a subentity, and tags.
enum HistoryScene {
    static let schema: Schema = {
        let item = Entity(
            "Item",
            attributes: [
                Attribute("number", .int64, isOptional: true),
                Attribute("name", .string, isOptional: true, history: .preserved),
                Attribute("secret", .string, isOptional: true, history: .excluded),
            ], relationships: [Relationship("tags", to: "Tag", .toMany, inverse: "items")])
        let gadget = Entity(
            "Gadget", parent: "Item",
            attributes: [
                Attribute("serial", .uuid, isOptional: true, history: .preserved), Attribute("price", .decimal, isOptional: true),
            ])
        let tag = Entity(
            "Tag", attributes: [Attribute("name", .string, isOptional: true), Attribute("size", .int64, isOptional: true)],
            relationships: [Relationship("items", to: "Item", .toMany, inverse: "tags")])
        do { return try Schema(version: "V1", entities: [item, gadget, tag]) } catch { return .empty }
    }()

    /// Returns a case over a store that records a history, opened with the model.
    static func historyCase(
        _ id: String, _ clause: String, _ needs: Set<StorageCapabilities.Capability> = [],
        _ body: @escaping @Sendable (Scratch, Check) throws -> Void
    ) -> ConformanceCase {
        ConformanceCase(id, clause: clause, needs: needs.union([.history])) { harness, check in
            try harness.withStore(schema) { scratch in try body(scratch, check) }
        }
    }
}

extension Scratch {
    /// Returns the changes of the last history entry.
    func lastChanges() throws -> [HistoryChange] { try history().last.map { Array($0.changes) } ?? [] }

    /// Returns the set of slots with the given names.
    func mask(_ entity: String, _ names: String...) throws -> SlotMask {
        let description = schema[try self.entity(entity)]
        var mask = SlotMask()
        for name in names { if let slot = description.slot(name) { mask.insert(slot) } }
        return mask
    }

    func change(
        _ entity: String, _ key: Int64, _ kind: HistoryChange.Kind, tombstone values: [String: Value] = [:]
    ) throws -> HistoryChange {
        let index = try self.entity(entity)
        let slots = values.map { (schema[index].slot($0.key) ?? -1, $0.value) }
        return HistoryChange(entity: index, key: key, kind: kind, tombstone: Dictionary(uniqueKeysWithValues: slots))
    }

    func deletes(_ name: String, _ keys: [Int64]) throws -> EntityChanges {
        EntityChanges(entity: try entity(name), deletes: keys.map { RowDeletion(key: $0) })
    }
}

/// The history rules of a model: the attributes that the history never mentions, and those whose values it preserves when their object is
/// deleted.
///
/// The rules are those of the model with which a store is opened. They are not part of the schema's hash, so the stored model may have
/// other rules.
package struct HistoryRules: Sendable {
    /// Whether the history is recorded.
    package var isOn: Bool
    let hidesAny: Bool
    private let hidden: [SlotMask]
    private let preserved: [[Int]]
    private let schema: Schema

    /// Creates the rules of a model.
    ///
    /// - Parameter isOn: Whether the history is recorded.
    package init(_ schema: Schema, isOn: Bool = true) {
        self.isOn = isOn
        self.schema = schema
        func slots(_ history: AttributeHistory) -> [[Int]] {
            schema.descriptions.map { entity in entity.slots.indices.filter { entity.slots[$0].attribute?.history == history } }
        }
        preserved = slots(.preserved)
        hidden = slots(.excluded).map { slots in
            var mask = SlotMask()
            for slot in slots { mask.insert(slot) }
            return mask
        }
        hidesAny = hidden.contains { !$0.isEmpty }
    }

    /// Returns the root of an entity's hierarchy, whose primary keys the entity shares.
    func root(_ entity: EntityIndex) -> EntityIndex { schema.descriptions.indices.contains(entity) ? schema[entity].root : entity }

    /// Returns the slots of a mask that the history may mention.
    func visible(_ mask: SlotMask, _ entity: EntityIndex) -> SlotMask {
        guard hidden.indices.contains(entity), !hidden[entity].isEmpty else { return mask }
        var mask = mask
        mask.subtract(hidden[entity])
        return mask
    }

    /// Returns all slots of an entity that the history may mention.
    func everything(_ entity: EntityIndex) -> SlotMask? {
        guard schema.descriptions.indices.contains(entity) else { return nil }
        return visible(SlotMask(all: schema[entity].slots.count), entity)
    }

    /// Returns whether values of deleted objects of an entity or of one of its subentities are preserved.
    func preserves(_ entity: EntityIndex) -> Bool {
        isOn && preserved.indices.contains(entity) && schema[entity].family.contains { !preserved[$0].isEmpty }
    }

    /// Returns the values to preserve when a row is deleted.
    func tombstone(_ row: borrowing RowView) -> [Int: Value] {
        var values: [Int: Value] = [:]
        for slot in preserved[row.entity] { values[slot] = Value(row[slot], as: schema[row.entity].slots[slot].type) ?? .null }
        return values
    }
}

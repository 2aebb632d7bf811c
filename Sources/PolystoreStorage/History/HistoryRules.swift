/// What a model says about the history: which attributes it never names, and whose values it keeps when their object is deleted.
///
/// The rules are those of the model that a store is opened with: they are no part of its hash, so the stored model may have others.
public struct HistoryRules: Sendable {
    /// Whether anything is recorded at all.
    public var isOn: Bool
    let hidesAny: Bool
    private let hidden: [SlotMask]
    private let preserved: [[Int]]
    private let schema: Schema

    /// The rules of a model.
    ///
    /// - Parameter isOn: Whether anything is recorded at all.
    public init(_ schema: Schema, isOn: Bool = true) {
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

    /// The entity whose keys an entity shares.
    func root(_ entity: EntityIndex) -> EntityIndex { schema.descriptions.indices.contains(entity) ? schema[entity].root : entity }

    /// What of a set of slots the history may name.
    func visible(_ mask: SlotMask, _ entity: EntityIndex) -> SlotMask {
        guard hidden.indices.contains(entity), !hidden[entity].isEmpty else { return mask }
        var mask = mask
        mask.subtract(hidden[entity])
        return mask
    }

    /// All slots of an entity that the history may name.
    func everything(_ entity: EntityIndex) -> SlotMask? {
        guard schema.descriptions.indices.contains(entity) else { return nil }
        return visible(SlotMask(all: schema[entity].slots.count), entity)
    }

    /// Whether something is kept of deleted objects of an entity or of one below it.
    func preserves(_ entity: EntityIndex) -> Bool {
        isOn && preserved.indices.contains(entity) && schema[entity].family.contains { !preserved[$0].isEmpty }
    }

    /// What is kept of a row when it is deleted.
    func tombstone(_ row: borrowing RowView) -> [Int: Value] {
        var values: [Int: Value] = [:]
        for slot in preserved[row.entity] { values[slot] = Value(row[slot], as: schema[row.entity].slots[slot].type) ?? .null }
        return values
    }
}

internal import PolystoreStorage

/// A change that mends a violation.
enum RepairStep: Sendable, Hashable {
    /// A row of an object that is changed only in the version in which the check found it.
    struct Row: Sendable, Hashable {
        let entity: EntityIndex
        let key: Int64
        let version: Int64
    }

    case rebuildIndexes(table: String)
    case setVersion(Row, to: Int64)
    case raiseKeys(EntityIndex, above: Int64)
    case setReference(Row, slot: Int, to: Int64?)
    case clearValue(Row, slot: Int)
    case addPair(link: Int, LinkPair)
    case renumber(link: Int, owner: Int64)
    case appendMember(link: Int, owner: Int64, member: Int64)
    case removePair(link: Int, LinkPair)
    case delete(Row)
    case removeRow(EntityIndex, key: Int64)
    case purgeHistory(through: Int64)

    /// The change and the consent that it needs.
    var repair: CheckRepair {
        func repair(_ text: String, _ consent: CheckRepair.Consent? = nil) -> CheckRepair {
            CheckRepair(description: text, consent: consent)
        }
        switch self {
        case .rebuildIndexes(let table): return repair("rebuilds the indexes of \(table)")
        case .setVersion(_, let version): return repair("sets the version to \(version)")
        case .raiseKeys: return repair("raises the key counter")
        case .setReference(_, _, nil): return repair("sets the reference to nil")
        case .setReference(let row, _, .some(let key)): return repair("makes object \(row.key) refer back to object \(key)")
        case .clearValue: return repair("saves the object and sets the value to nil", .removingUnreadable)
        case .addPair(_, let pair): return repair("adds object \(pair.member) where it is missing")
        case .renumber: return repair("gives the members new positions in the same order")
        case .appendMember(_, _, let member): return repair("adds object \(member) as the last one")
        case .removePair(_, let pair): return repair("removes object \(pair.member) from the relationship")
        case .delete: return repair("deletes the object", .deletingBroken)
        case .removeRow: return repair("saves the stored row and removes it", .removingUnreadable)
        case .purgeHistory(let position): return repair("saves the history up to position \(position) and removes it", .removingUnreadable)
        }
    }

    /// The object that the change removes, by the entity of its row; nil for other changes.
    var removed: (entity: EntityIndex, key: Int64)? {
        switch self {
        case .delete(let row): (row.entity, row.key)
        case .removeRow(let root, let key): (root, key)
        case .rebuildIndexes, .setVersion, .raiseKeys, .setReference, .clearValue, .addPair, .renumber, .appendMember, .removePair,
            .purgeHistory:
            nil
        }
    }

    /// The object whose row the change concerns; nil for other changes.
    var object: (entity: EntityIndex, key: Int64)? {
        switch self {
        case .setVersion(let row, _), .setReference(let row, _, _), .clearValue(let row, _), .delete(let row): (row.entity, row.key)
        case .removeRow(let root, let key): (root, key)
        case .rebuildIndexes, .raiseKeys, .addPair, .renumber, .appendMember, .removePair, .purgeHistory: nil
        }
    }
}

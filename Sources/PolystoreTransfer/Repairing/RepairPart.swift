/// A part of a repair, which is one transaction.
enum RepairPart: String, CaseIterable, Comparable {
    // In this order: rows are found by indexes, an object can change only with a valid version, and references are removed before the
    // objects to which they refer.
    case indexes, versions, rows, counters, references, members, objects, history

    /// Returns the part that a change belongs to.
    init(_ step: RepairStep) {
        switch step {
        case .rebuildIndexes: self = .indexes
        case .setVersion: self = .versions
        case .removeRow: self = .rows
        case .raiseKeys: self = .counters
        case .setReference, .clearValue: self = .references
        case .addPair, .renumber, .appendMember, .removePair: self = .members
        case .delete: self = .objects
        case .purgeHistory: self = .history
        }
    }

    private var position: Int { Self.allCases.firstIndex(of: self) ?? 0 }

    static func < (a: RepairPart, b: RepairPart) -> Bool { a.position < b.position }

    /// Returns a description of a number of changes.
    func summary(_ count: Int) -> String {
        func counted(_ noun: String) -> String { "\(count) \(noun)\(count == 1 ? "" : "s")" }
        switch self {
        case .indexes: return "rebuild the indexes of \(counted("table"))"
        case .versions: return "set the versions of \(counted("object"))"
        case .rows: return "save and remove \(counted("row")) that cannot be decoded"
        case .counters: return "raise \(counted("key counter"))"
        case .references: return "set \(counted("value")) of objects"
        case .members: return "add, remove or move \(counted("member")) of relationships"
        case .objects: return "delete \(counted("object"))"
        case .history: return "save and remove the history up to its last damaged entry"
        }
    }
}

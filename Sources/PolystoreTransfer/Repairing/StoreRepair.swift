internal import PolystoreStorage

/// The changes that mend a store, as a check has found them.
///
/// The memory that it needs grows with the number of changes.
public struct StoreRepair: Sendable {
    /// The number of violations.
    public private(set) var findings = 0
    /// The number of violations that the repair does not mend.
    public private(set) var unmended = 0
    /// Whether the file of the store is damaged. Nothing in it can be changed safely, so a repair refuses it.
    public private(set) var isFileDamaged = false
    /// The token of the newest transaction that the check saw.
    let token: HistoryToken?
    private(set) var steps: [RepairPart: Set<RepairStep>] = [:]
    private let options: RepairOptions
    private let removed: RemovedObjects
    private let schema: Schema

    init(_ options: RepairOptions, _ removed: RemovedObjects, _ session: ReadSession) throws(StorageError) {
        self.options = options
        self.removed = removed
        schema = session.schema
        token = try session.currentToken()
    }

    /// The number of changes.
    public var changes: Int { steps.values.reduce(0) { $0 + $1.count } }

    /// Whether the repair removes data that cannot be decoded, and that have to be saved before.
    public var removesUnreadable: Bool {
        steps.values.contains { $0.contains { $0.repair.consent == .removingUnreadable } }
    }

    /// A description of each part of the repair, in the order in which they are made.
    public var summary: [String] { steps.keys.sorted().map { $0.summary(steps[$0]?.count ?? 0) } }

    mutating func add(_ finding: CheckFinding) {
        findings += 1
        isFileDamaged = isFileDamaged || finding.isOfFile
        guard let step = finding.step, options.allows(step) else {
            unmended += 1
            return
        }
        // An object that is removed is not changed before.
        if isOfRemovedObject(step) { return }
        steps[RepairPart(step), default: []].insert(step)
    }

    private func isOfRemovedObject(_ step: RepairStep) -> Bool {
        switch step {
        case .setReference(let row, _, _), .clearValue(let row, _): removed.contains(row.key, root: schema[row.entity].root)
        case .rebuildIndexes, .setVersion, .raiseKeys, .addPair, .renumber, .appendMember, .removePair, .delete, .removeRow, .purgeHistory:
            // A row is removed only in a version that can be compared.
            false
        }
    }
}

internal import PolystoreStorage

/// The records whose unique values and one-to-one references count, for the objects that several records of the files assign some.
///
/// Only these are written. Otherwise an object would have a value in between that another one has.
struct LastAssignments {
    private struct Position: Equatable {
        let file: Int
        let index: Int
    }

    private var positions: [LoadClaim.Object: [Int: Position]] = [:]

    /// Records that a record assigns a slot.
    ///
    /// - Parameter index: The position of the record in its file.
    mutating func add(_ object: LoadClaim.Object, _ slot: Int, _ target: LoadTarget, _ index: Int) {
        positions[object, default: [:]][slot] = Position(file: target.index, index: index)
    }

    /// Returns whether what a record assigns to a slot counts.
    func counts(_ object: LoadClaim.Object, _ slot: Int, _ target: LoadTarget, _ index: Int) -> Bool {
        if positions.isEmpty { return true }
        guard let last = positions[object]?[slot] else { return true }
        return last == Position(file: target.index, index: index)
    }
}

extension FileLoader {
    /// Finds the records whose unique values and one-to-one references count.
    func findLastAssignments() throws(StorageError) {
        if identified.isEmpty { return }
        var seen: [EntityIndex: KeyBitmap] = [:], several: Set<LoadClaim.Object> = []
        for target in targets {
            let root = target.description.root
            for key in objectKeys(ofFile: target.index) ?? AnySequence([]) where !seen[root, default: KeyBitmap()].insert(key) {
                several.insert(LoadClaim.Object(root: root, key: key))
            }
        }
        if several.isEmpty { return }
        for target in targets {
            let slots = exclusiveSlots(target)
            if slots.isEmpty { continue }
            try forEachRecord(of: target) { record, index, object throws(StorageError) in
                if !several.contains(object) { return }
                for slot in slots where try assigns(record, target, slot) { lastAssignments.add(object, slot, target, index) }
            }
        }
    }

    /// Returns whether a record assigns a slot. A reference that is not resolved leaves it as it is.
    func assigns(_ record: LoadRecord, _ target: LoadTarget, _ slot: Int) throws(StorageError) -> Bool {
        if target.on == nil { return true }
        guard let reference = target.references.first(where: { $0.slot == slot }) else { return target.assigns(record, slot: slot) }
        if try !target.assigns(record, reference) { return false }
        guard let values = try target.values(record, reference.search) else { return true }
        return lookups[reference.search.lookup]?.find(values) != .nothing
    }

    /// Returns the slots with values that only one object can have, except for those that identify the records.
    func exclusiveSlots(_ target: LoadTarget) -> [Int] {
        let unique = uniqueSlots(target).joined()
        let references = target.references.filter { reference in
            if reference.search.isRequired { return false }
            if case .slot = reference.inverse { return true }
            return target.description.uniqueConstraints.contains { $0.slots.contains(reference.slot) }
        }
        return Set(unique).union(references.map(\.slot)).sorted()
    }
}

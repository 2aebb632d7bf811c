internal import PolystoreStorage

/// A history with a defect.
enum MutantHistory {
    static func damaged(_ entries: [HistoryEntry], _ defect: MutantStore.Defect) -> [HistoryEntry] {
        func changed(_ change: (HistoryChange) -> [HistoryChange]) -> [HistoryEntry] {
            entries.map { entry in
                let changes = HistoryChanges(entry.changes.flatMap(change))
                return HistoryEntry(token: entry.token, time: entry.time, author: entry.author, changes: changes)
            }
        }
        if defect == .forgetsHistory { return entries.filter { $0.changes.allSatisfy { $0.kind != .delete } } }
        if defect == .tellsTheNewestFirst { return entries.reversed() }
        if defect == .forgetsAuthors {
            return entries.map { HistoryEntry(token: $0.token, time: $0.time, author: "", changes: $0.changes) }
        }
        if defect == .tellsEachChange { return changed { [$0, $0] } }
        if defect == .losesTombstones { return changed { [HistoryChange(entity: $0.entity, key: $0.key, kind: $0.kind)] } }
        if defect == .namesSecrets { return changed { [naming($0)] } }
        return entries
    }

    private static func naming(_ change: HistoryChange) -> HistoryChange {
        guard case .update(var mask) = change.kind else { return change }
        for slot in 0..<3 { mask.insert(slot) }
        return HistoryChange(entity: change.entity, key: change.key, kind: .update(mask))
    }
}

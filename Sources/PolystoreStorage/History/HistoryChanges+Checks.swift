extension HistoryChanges {
    /// Refuses changes of entities, slots, or link tables that the model does not contain. Only a damaged entry refers to such parts.
    public func check(_ schema: Schema) throws(StorageError) {
        for run in runs where !Self.fits(run, schema) { throw .damagedHistory }
    }

    private static func fits(_ run: Run, _ schema: Schema) -> Bool {
        guard schema.descriptions.indices.contains(run.entity) else { return false }
        let count = schema[run.entity].slots.count
        guard run.tombstones.allSatisfy({ $0.keys.allSatisfy { (0..<count).contains($0) } }) else { return false }
        switch run.kind {
        case .insert, .delete: return true
        case .update(let mask): return mask.high.isEmpty ? mask.low >> count == 0 : (mask.slots.last ?? 0) < count
        case .links(let link): return schema.links.indices.contains(link)
        }
    }
}

extension HistoryEntry {
    /// Returns entries in terms of the store's current model. Entries that were written under an older version are translated.
    ///
    /// - Throws: `corrupted` if an entry refers to a part that the model does not contain.
    public static func current(
        _ entries: [HistoryEntry], _ metadata: StoreMetadata, _ session: any StorageReader
    ) throws(StorageError) -> [HistoryEntry] {
        let entries = try PastVersion.translate(entries, metadata.migrations, session)
        for entry in entries { try entry.changes.check(metadata.schema) }
        return entries
    }
}

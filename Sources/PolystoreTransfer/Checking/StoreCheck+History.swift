internal import PolystoreStorage

extension StoreCheck {
    private static let entriesAtOnce = 256

    /// Checks that the history can be read, in ascending order of its positions.
    func checkHistory(_ body: (CheckFinding) throws(StorageError) -> Void) throws(StorageError) {
        guard session.store.capabilities.contains(.history) else { return }
        var last: HistoryToken?
        do throws(StorageError) {
            while true {
                try limit?.check()
                let entries = try session.history(since: last, limit: Self.entriesAtOnce)
                guard let newest = entries.last?.token else {
                    if let last, last.position >= .max - 1 {
                        let sentence = "the last position leaves none for later entries; transfer the data to a new store"
                        try body(CheckFinding("history", last.position, nil, sentence))
                    }
                    return
                }
                for entry in entries {
                    if let last, entry.token.position <= last.position {
                        try body(CheckFinding("history", entry.token.position, nil, "the position does not follow the one before"))
                    }
                    last = entry.token
                }
                last = newest
            }
        } catch  where error.code == .corrupted {
            try checkEntries(after: last?.position ?? 0, error, body)
        }
    }

    /// Reads the entries after a position one by one, and passes those that cannot be read to `body`.
    ///
    /// Readers of the history would miss a change if a single entry was removed, so a repair removes all entries up to the last of these:
    /// tokens from before them are refused as expired.
    private func checkEntries(
        after position: Int64, _ error: StorageError, _ body: (CheckFinding) throws(StorageError) -> Void
    ) throws(StorageError) {
        guard let stored = session.storedForms else { return try body(CheckFinding("history", nil, nil, error.message)) }
        var damaged: [Int64] = [], last = position
        while case let entries = try stored.storedEntries(after: last, limit: Self.entriesAtOnce), let newest = entries.last?.position {
            try limit?.check()
            for entry in entries where entry.position > .min {
                let token = HistoryToken(store: session.store.storeID, position: entry.position - 1)
                do throws(StorageError) { _ = try session.history(since: token, limit: 1) } catch  where error.code == .corrupted {
                    damaged.append(entry.position)
                }
            }
            last = newest
        }
        // Not an entry but the start of the history, or the translation of earlier entries, is damaged.
        guard let newest = damaged.last else { return try body(CheckFinding("history", nil, nil, error.message)) }
        for position in damaged {
            let sentence = "the entry at position \(position) cannot be decoded"
            // Later commits need positions above the removed ones.
            let step = newest < .max >> 1 ? RepairStep.purgeHistory(through: newest) : nil
            try body(CheckFinding("history", nil, nil, sentence, step))
        }
    }
}

internal import PolystoreFoundation
public import PolystoreStorage

/// The marks of the most recent commits. Each mark is unique, because the engine reuses the number of a transaction whose commit failed.
enum CommitMarks {
    /// The number of commits whose marks are kept.
    private static let count: Int64 = 64

    /// Returns the name of the mark of a transaction in the counters map. Names of entities never begin with this prefix.
    static func name(_ number: Int64) -> String { "polystore_commit.\(number % count)" }

    static let byteCount = 24

    /// Returns the bytes of a mark: the number of the transaction (8) and the mark (16).
    static func bytes(_ number: Int64, _ mark: UUID) -> [UInt8] {
        withUnsafeBytes(of: number.littleEndian, Array.init) + withUnsafeBytes(of: mark.uuid, Array.init)
    }

    static func value(_ number: Int64, _ mark: UUID) -> String { "\(number).\(mark.uuidString)" }

    /// Returns the number and the mark of a token, or nil if the token belongs to a store of another kind.
    static func parts(_ token: CommitToken) -> (number: Int64, mark: UUID)? {
        let parts = token.value.split(separator: ".")
        guard parts.count == 2, let number = Int64(parts[0]), number > 0, let mark = UUID(uuidString: String(parts[1])) else { return nil }
        return (number, mark)
    }
}

extension KeyValueWriter {
    /// Writes the mark of the transaction where the engine numbers transactions.
    ///
    /// - Returns: The token of its commit.
    func writeMark() throws(StorageError) -> CommitToken? {
        guard let number = maps.commitNumber else { return nil }
        let mark = UUID()
        var bytes = KeyBytes()
        bytes.append(raw: CommitMarks.bytes(number, mark))
        try KeyValueStore.withBytes(CommitMarks.name(number)) { key throws(StorageError) in
            try bytes.withBytes { bytes throws(StorageError) in try maps.put(KeyValueLayout.counters, key, bytes) }
        }
        return CommitToken(storeID: core.storeID, value: CommitMarks.value(number, mark))
    }
}

extension KeyValueStore {
    /// Returns the outcome of a commit.
    public func outcome(of token: CommitToken, limit: WorkLimit?) throws(StorageError) -> CommitOutcome {
        guard let writer = try beginWrite(WriteOptions(limit: limit)) as? KeyValueWriter else { return .unknown }
        defer { writer.end() }
        guard token.storeID == writer.core.storeID, let (number, mark) = CommitMarks.parts(token) else {
            throw StorageError(.notFound, "the commit token belongs to another store")
        }
        let outcome = try writer.outcome(of: number, mark)
        // A new commit either replaces the remains of the failed commit or builds upon it, so that no later crash can change the answer.
        try writer.setNote("commit.settled", Data(UUID().uuidString.utf8))
        _ = try writer.commit(CommitRecord())
        return outcome
    }
}

extension KeyValueWriter {
    fileprivate func outcome(of number: Int64, _ mark: UUID) throws(StorageError) -> CommitOutcome {
        let stored = try KeyValueStore.withBytes(CommitMarks.name(number)) { key throws(StorageError) in
            try maps.get(KeyValueLayout.counters, key).map(Array.init) ?? []
        }
        if stored == CommitMarks.bytes(number, mark) { return .committed }
        let newest =
            stored.count == CommitMarks.byteCount ? stored.withUnsafeBytes { Int64(littleEndian: $0.loadUnaligned(as: Int64.self)) } : 0
        return newest > number ? .unknown : .notCommitted
    }
}

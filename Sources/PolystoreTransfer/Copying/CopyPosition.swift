internal import PolystoreStorage

/// The position of a copy in a table of the source, some of whose rows earlier runs have copied.
struct CopyPosition {
    /// Consecutive rows that were all copied by earlier runs, or by none.
    struct Run {
        let isCopied: Bool
        let start: Int
        let count: Int
    }

    /// The digest of the rows before the position.
    private(set) var digest = Digest()
    /// The parts that earlier runs have copied and that do not end before the position, in their order.
    private var parts: ArraySlice<CopiedPart>
    /// The digest of the rows of the first part before the position.
    private var found = Digest()

    init(after parts: [CopiedPart]) { self.parts = parts.filter { $0.digest.count > 0 }[...] }

    /// Returns the next rows, at most `most`, that were copied or not.
    func run(atMost most: Int) -> Run {
        let start = digest.count
        guard let part = parts.first else { return Run(isCopied: false, start: start, count: most) }
        if start < part.start { return Run(isCopied: false, start: start, count: min(most, part.start - start)) }
        return Run(isCopied: true, start: start, count: min(most, part.end - start))
    }

    /// Advances over the rows of a run.
    ///
    /// - Throws: `incompleteCopy` if they complete a part that earlier runs have copied, and differ from what it was.
    mutating func advance(over run: Run, _ rows: Digest) throws(StorageError) {
        digest.add(rows)
        guard run.isCopied, let part = parts.first else { return }
        found.add(rows)
        if found.count < part.digest.count { return }
        if found != part.digest { throw Self.changed }
        parts.removeFirst()
        found = Digest()
    }

    /// Checks that the source has all rows that earlier runs have copied.
    func finish() throws(StorageError) { if !parts.isEmpty { throw Self.changed } }

    private static var changed: StorageError {
        StorageError(
            .incompleteCopy,
            "the source has changed since the interrupted transfer has copied a part of it; erase the target (polystore erase) and repeat the "
                + "transfer")
    }
}

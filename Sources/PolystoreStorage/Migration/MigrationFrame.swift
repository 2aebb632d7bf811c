/// The state that all objects of the transformers of a hierarchy share. Each object holds one reference instead of many.
final class MigrationFrame {
    /// The session of the older version.
    let source: ReadSession
    /// The shapes of the entities of the older version.
    let shapes: [ObjectShape]
    /// The rows of the newer version that are written next.
    let batch: RowBatch
    let keys: MigrationKeys
    let problems: MigrationProblems
    /// The number of calls of transformers that have ended. An object is valid during the call in which it was made: afterwards its row has
    /// been written, or the memory of its cells belongs to other rows.
    private(set) var call = 0

    init(_ source: ReadSession, _ shapes: [ObjectShape], _ batch: RowBatch, _ keys: MigrationKeys, _ problems: MigrationProblems) {
        self.source = source
        self.shapes = shapes
        self.batch = batch
        self.keys = keys
        self.problems = problems
    }

    /// Ends the call of a transformer and the use of its objects.
    func endCall() { call &+= 1 }

    /// Returns whether an object that was made in a call is valid, and reports it otherwise.
    @inline(__always)
    func isValid(_ call: Int, _ entity: EntityDescription, _ key: Int64) -> Bool {
        if call == self.call { return true }
        problems.add(
            StorageError(
                .storeClosed,
                "an object of \(entity.name) was used after the transformer to which it was passed, or which created it, had returned; keep "
                    + "its values instead of the object",
                details: .init(entity: entity.name, keys: [key])))
        return false
    }
}

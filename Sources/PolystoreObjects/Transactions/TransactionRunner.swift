internal import PolystoreFoundation
internal import PolystoreStorage

/// The execution of a transaction's closure until it commits. After a conflict the closure runs again; the last attempt has exclusive
/// access.
struct TransactionRunner {
    static let attempts = 8

    private let core: StackCore
    private let author: String
    private let source: (any Hashable & Sendable)?
    private let limit: WorkLimit
    /// The turn in the queue of writers, which the transaction leaves once it only waits for the disk.
    private let turn: WorkTurn?

    /// The numbers of committed changes, for the metrics.
    private var counts = Measured.Counts()

    init(_ core: StackCore, author: String, source: (any Hashable & Sendable)?, limit: WorkLimit, turn: WorkTurn? = nil) {
        self.core = core
        self.author = author
        self.source = source
        self.limit = limit
        self.turn = turn
    }

    /// Runs a closure and reports its outcome to the metrics.
    mutating func run<R>(
        _ measured: Measured?, unless refusal: StorageError? = nil, _ body: (WriteTransaction) throws -> R
    ) throws -> R {
        do {
            if let refusal { throw refusal }
            let result = try run(body)
            measured?.end(counts, nil)
            return result
        } catch {
            measured?.end(counts, error)
            throw error
        }
    }

    private mutating func run<R>(_ body: (WriteTransaction) throws -> R) throws -> R {
        try RunningTransaction.run(core) {
            var stores: Set<Int> = []
            var attempt = 1
            while true {
                try limit.check()
                let transaction: WriteTransaction, replacement = core.replacement
                do {
                    transaction = try WriteTransaction(
                        core, author: author, source: source, attempt: attempt, limit: limit, isExclusive: attempt >= Self.attempts,
                        stores: stores)
                } catch {
                    if try !awaitReplacement(error, since: replacement) { throw error }
                    stores = []
                    continue
                }
                do {
                    defer { transaction.finish() }
                    let result = try body(transaction)
                    counts = try transaction.commit(turn)
                    counts.attempts = attempt
                    return result
                } catch {
                    // A conflict takes precedence over any error of the closure, because the closure did not see a single consistent state.
                    let failure: any Error = transaction.conflict ?? transaction.context.loadError ?? error
                    switch transaction.restart {
                    case .opening(let wanted)?:
                        stores = wanted
                        continue
                    case .pairing(let pairs)?:
                        transaction.finish()
                        try core.pair(pairs)
                        continue
                    case nil: break
                    }
                    if try awaitReplacement(failure, since: replacement) {
                        stores = []
                        continue
                    }
                    // If the time limit expired while waiting for another writer, throw `timeout` and not `busy`.
                    if (failure as? StorageError)?.code == .busy { try limit.check() }
                    if attempt >= Self.attempts || (failure as? StorageError)?.code != .serializationFailure {
                        throw failure
                    }
                    attempt += 1
                    counts.attempts = attempt
                    Self.pause(attempt)
                }
            }
        }
    }

    /// Waits until the replacement of a store of the stack has ended, if an error is that of an attempt during which it was going on.
    ///
    /// - Parameter earlier: The replacements before the attempt.
    /// - Returns: Whether the attempt is to be repeated.
    private func awaitReplacement(_ error: any Error, since earlier: StackCore.Replacement) throws(StorageError) -> Bool {
        guard let code = (error as? StorageError)?.code, code == .storeMoved || code == .storeClosed else { return false }
        let now = core.replacement
        if !now.isRunning, now.ended == earlier.ended { return false }
        while core.replacement.isRunning {
            try limit.check()
            Threads.pause(seconds: 0.002)
        }
        return true
    }

    /// Waits a random time that increases with the attempts, so that conflicting transactions do not collide again.
    static func pause(_ attempt: Int) {
        let longest = min(0.002 * Double(1 << min(attempt, 6)), 0.1)
        Threads.pause(seconds: Double.random(in: 0...longest))
    }
}

#if PostgreSQL
internal import CLibPQ
internal import PolystoreFoundation
internal import PolystoreStorage

// Answers that are received in parts, so that the memory of a program does not depend on the number of rows and on their size: libpq holds
// one part, and the server waits until it is received.
extension PostgreSQLConnection {
    /// The time that the end of a session waits for an answer that is not needed, and the number of its bytes that are received. A new
    /// connection takes less time.
    private static let shortestSilence = Duration.milliseconds(250), mostDiscarded = 16 << 20

    /// Sends a statement and does not wait for its answer, which the server prepares while the program does other work.
    func begin(_ step: PostgreSQLStep, rowByRow: Bool = false) throws(StorageError) -> PostgreSQLAnswer {
        guard try send(step) == 1 else { throw explained(lost) }
        isByRow = rowByRow && PQsetSingleRowMode(handle) == 1
        PQflush(handle)
        let new = PostgreSQLAnswer()
        answer = new
        return new
    }

    /// Returns the next rows of an answer; nil after the last ones.
    func nextPart(of wanted: PostgreSQLAnswer) throws(StorageError) -> PostgreSQLResult? {
        if let part = try wanted.nextKept() { return part }
        if let failure = wanted.failure { throw failure }
        return wanted === answer ? try receivePart(of: wanted) : nil
    }

    /// Receives the next rows of the answer that is on its way; nil at its end, after which the connection is free for another statement.
    private func receivePart(of current: PostgreSQLAnswer) throws(StorageError) -> PostgreSQLResult? {
        if !current.isBegun { roundTrips += 1 }
        current.isBegun = true
        do throws(StorageError) {
            while let result = next() {
                let part = PostgreSQLResult(try checked(result), oids: current.oids)
                current.oids = part.oids
                noteSize(of: part)
                if PQresultStatus(result) != PGRES_SINGLE_TUPLE { current.isComplete = true }
                if part.count > 0 { return part }
            }
            if !current.isComplete { throw explained(lost) }
        } catch {
            while let rest = next() { PQclear(rest) }
            answer = nil
            current.failure = error
            answerFailure = error
            throw error
        }
        answer = nil
        return nil
    }

    /// Receives the rest of the answer that is on its way, if there is one, because the connection is needed for another statement. Keeps
    /// the rows unless they were given up.
    func keepAnswer() {
        while let current = answer, let part = try? receivePart(of: current) {
            if !current.isAbandoned { current.keep(part) }
        }
    }

    /// Receives the rest of the answer that is on its way, which is not needed any more. Gives the connection up if that takes long.
    func discardAnswer() {
        longestSilence = Self.shortestSilence
        var bytes = 0
        while let current = answer, let part = try? receivePart(of: current) {
            bytes += part.bytes
            if bytes > Self.mostDiscarded { giveUp() }
        }
        longestSilence = Self.shortSilence
        answerFailure = nil
        released.removeAll()
    }

    /// Prepares a rollback to a savepoint. It undoes what an answer has failed with, and removes the server-side cursors that were declared
    /// after the savepoint.
    func beginRollback() {
        keepAnswer()
        answerFailure = nil
        released.removeAll()
        rollbacks += 1
    }

    /// Removes a server-side cursor before the next statement, unless a rollback to a savepoint has removed it.
    ///
    /// - Parameter rollbacks: The value of `rollbacks` when it was declared.
    func release(_ cursor: String, since rollbacks: Int) {
        if rollbacks == self.rollbacks, answerFailure == nil { released.append(cursor) }
    }

    /// Removes the server-side cursors that were released.
    func closeReleased() throws(StorageError) {
        if released.isEmpty { return }
        let names = released
        released.removeAll()
        try execute(names.map { "CLOSE \($0)" }.joined(separator: "; "))
    }
}
#endif

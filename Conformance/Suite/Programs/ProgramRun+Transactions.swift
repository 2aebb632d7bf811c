internal import Foundation
internal import Polystore
internal import PolystoreStorage

/// Transactions and their parts.
extension ProgramRun {
    /// Performs a step outside of all transactions.
    func perform(_ step: ProgramStep) throws {
        if !means(step) { return }
        switch step.kind {
        case .transaction(let author, let fails): try transaction(step, author, fails)
        case .detached(let interference, let policy): try detached(step, interference, policy)
        case .watch(let request, let section): try watch(step, request, section)
        case .follow(let number): try follow(step, number)
        case .publishCount(let request): try publishCount(step, request)
        case .reopen: try reopen()
        case .migrate(let changes): try migrate(step, changes)
        case .fetch(let request): try fetch(step, request, stack)
        case .count(let request): try count(step, request, stack)
        case .pages(let request, let size): try pages(step, request, size, stack)
        case .query(let query): try self.query(step, query, stack)
        case .nested, .create, .assign, .relate, .refer, .delete, .read, .updateAll, .deleteAll, .insertAll, .upsertAll, .importAll, .mark,
            .undo, .redo:
            throw difference(step, "a step outside of transactions", "a part of one")
        }
    }

    /// Returns whether the elements that a step names exist.
    func means(_ step: ProgramStep) -> Bool { schema.means(step.kind) { state.naive.objects[$0]?.entity } }

    private func reopen() throws {
        forgetObservers()
        if !target.isPersistent {
            view = stack.makeViewContext()
            return
        }
        try closeStores()
        try openStores()
    }

    private func transaction(_ step: ProgramStep, _ author: String, _ fails: Bool) throws {
        let before = state, author = nextAuthor(author)
        var outcome = ProgramAnswer.done
        do {
            try stack.perform(author: TransactionAuthor(author), sourceIdentifier: author) { transaction in
                // The closure may run again.
                state = before
                held = [:]
                for part in step.parts { try perform(part, in: transaction) }
                if fails { throw ProgramFailure() }
            }
        } catch is ProgramFailure {
            outcome = .text("undone")
        } catch let error as StorageError {
            outcome = .refused(error.code)
        } catch let abandoned as ProgramAbandoned {
            state = before
            throw abandoned
        } catch let undefined as ProgramUndefined {
            state = before
            throw undefined
        }
        let naive = state.naive
        let expected: ProgramAnswer =
            if fails { .text("undone") } else if naive.violatesRules { .refused(.validationFailed) } else if naive.violatesUnique {
                .refused(.uniqueConstraintViolated)
            } else { .done }
        if case .done = outcome {
            state.naive.commits += 1
            committed = state
        } else {
            state = before
        }
        try compare(step, expected, outcome)
    }

    /// Performs a step inside a transaction.
    func perform(_ step: ProgramStep, in transaction: WriteTransaction) throws {
        if !means(step) { return }
        switch step.kind {
        case .nested(let fails): try nested(step, fails, transaction)
        case .fetch(let request): try fetch(step, request, transaction)
        case .count(let request): try count(step, request, transaction)
        case .pages(let request, let size): try pages(step, request, size, transaction)
        case .query(let query): try self.query(step, query, transaction)
        case .updateAll, .deleteAll, .insertAll, .upsertAll: try batch(step, transaction)
        case .create, .assign, .relate, .refer, .delete, .read, .importAll: try change(step, transaction)
        case .transaction, .detached, .mark, .undo, .redo, .watch, .follow, .publishCount, .reopen, .migrate:
            throw difference(step, "a part of a transaction", "a step outside of transactions")
        }
    }

    private func nested(_ step: ProgramStep, _ fails: Bool, _ transaction: WriteTransaction) throws {
        let before = state, isRefused = state.naive.violatesUnique
        var outcome = ProgramAnswer.done
        do {
            try transaction.nested {
                for part in step.parts { try perform(part, in: transaction) }
                if fails { throw ProgramFailure() }
            }
        } catch is ProgramFailure {
            outcome = .text("undone")
        } catch let error as StorageError where error.code != .serializationFailure {
            outcome = .refused(error.code)
        }
        let expected: ProgramAnswer =
            if isRefused { .refused(.uniqueConstraintViolated) } else if fails { .text("undone") } else if state.naive.violatesUnique {
                .refused(.uniqueConstraintViolated)
            } else { .done }
        if case .done = outcome {} else { undo(to: before) }
        try compare(step, expected, outcome)
    }

    private func undo(to before: State) {
        for number in held.keys where before.naive.objects[number] == nil { held[number] = nil }
        state = before
    }

    /// Returns the result of an operation, including errors. An error after which the closure runs again is rethrown.
    func answer(_ body: () throws -> ProgramAnswer) throws -> ProgramAnswer {
        do {
            return try body()
        } catch let error as StorageError where error.code != .serializationFailure {
            return .refused(error.code)
        } catch let refused as NaiveGraph.Refused {
            return .refused(refused.code)
        }
    }

    /// Returns the result of the naive model for an operation that first applies pending changes to the stores.
    func expectedAfterFlush(_ isInTransaction: Bool, _ body: () throws -> ProgramAnswer) throws -> ProgramAnswer {
        if isInTransaction, !isDetached, state.naive.violatesUnique { return .refused(.uniqueConstraintViolated) }
        return try answer(body)
    }
}

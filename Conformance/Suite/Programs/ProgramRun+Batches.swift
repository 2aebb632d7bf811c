internal import Foundation
internal import Polystore
internal import PolystoreStorage

/// Batch changes of many objects.
extension ProgramRun {
    func batch(_ step: ProgramStep, _ transaction: WriteTransaction) throws {
        let before = state
        let found = try answer { try batch(step.kind, transaction) }
        // The keys of the created objects are known now; the model is updated separately.
        let expected = try expectedAfterFlush(true) { try expect(step.kind, before) }
        try compare(step, expected, found)
        if case .unknown = expected { throw ProgramUndefined() }
        if case .refused = found { state = before }
    }

    private func batch(_ kind: ProgramStep.Kind, _ transaction: WriteTransaction) throws -> ProgramAnswer {
        switch kind {
        case .updateAll(let request, let name, let value):
            let from = from(request, request.fetch.predicate, isInTransaction: true)
            return .count(try transaction.updateAll(from, .set(named: name, to: value)))
        case .deleteAll(let request):
            let from = from(request, request.fetch.predicate, isInTransaction: true)
            let count = try transaction.deleteAll(from)
            return .count(count)
        case .insertAll(let entity, let home, let first, let rows):
            let ids = try transaction.insertAll(into(entity, self.home(home)), sources: rows) { try assign($1, to: $0) }
            for (position, id) in ids.enumerated() { note(first + position, id.key, home: self.home(home)) }
            return .count(ids.count)
        case .upsertAll(let entity, let home, let unique, let first, let rows):
            let results = try transaction.upsertAll(into(entity, self.home(home)), onNamed: unique, sources: rows) {
                try assign($1, to: $0)
            }
            for (position, result) in results.enumerated() where result.isInserted {
                note(first + position, result.id.key, home: self.home(home))
            }
            return .text(results.map { "\($0.isInserted ? "new" : "\(state.numbers[$0.id.key] ?? -1)")" }.joined(separator: " "))
        case .transaction, .nested, .detached, .create, .assign, .relate, .refer, .delete, .read, .fetch, .count, .pages, .query,
            .importAll,
            .mark, .undo, .redo, .watch, .follow, .publishCount, .reopen, .migrate:
            return .text("no batch")
        }
    }

    private func assign(_ row: [ProgramAssignment], to object: DynamicObject) throws {
        for item in row { try object.setValue(item.value, for: item.name) }
    }

    private func expect(_ kind: ProgramStep.Kind, _ before: State) throws -> ProgramAnswer {
        switch kind {
        case .updateAll(let request, let name, let value): return try expectUpdate(request, name, value)
        case .deleteAll(let request):
            guard let numbers = state.naive.fetch(resolvedHome(request), ids(state)) else { return .unknown }
            _ = try expect { try $0.delete(numbers) }
            for number in held.keys where state.naive.objects[number] == nil { held[number] = nil }
            return .count(before.naive.objects.count - state.naive.objects.count)
        case .insertAll(let entity, let home, let first, let rows):
            _ = try expect { naive in
                for (position, row) in rows.enumerated() { try naive.insert(first + position, entity, self.home(home), row) }
                for position in rows.indices where naive.violatesRules(first + position) {
                    throw NaiveGraph.Refused(code: .validationFailed)
                }
                if naive.violatesUnique { throw NaiveGraph.Refused(code: .uniqueConstraintViolated) }
            }
            return .count(rows.count)
        case .upsertAll(let entity, let home, let unique, let first, let rows):
            // Which of several records fails first is not specified.
            if state.naive.refusals(entity, self.home(home), first, rows).count > 1 { return .unknown }
            var delivered: [String] = []
            _ = try expect { naive in delivered = try naive.upsert(entity, self.home(home), unique, first, rows) }
            return .text(delivered.joined(separator: " "))
        case .transaction, .nested, .detached, .create, .assign, .relate, .refer, .delete, .read, .fetch, .count, .pages, .query,
            .importAll,
            .mark, .undo, .redo, .watch, .follow, .publishCount, .reopen, .migrate:
            return .text("a batch")
        }
    }

    private func resolvedHome(_ request: ProgramRequest) -> ProgramRequest {
        var request = request
        request.home = isShared(request.fetch.entity) ? request.home.map(home) : nil
        return request
    }

    private func expectUpdate(_ request: ProgramRequest, _ name: String, _ value: QueryExpression) throws -> ProgramAnswer {
        let ids = ids(state)
        guard let numbers = state.naive.fetch(resolvedHome(request), ids) else { return .unknown }
        let store = state.naive.reference(ids)
        let rows = store.rows.filter { numbers.contains(Int($0.key)) }
        let values = rows.map { (Int($0.key), store.operand(value, $0)) }
        let constant = value.isConstant ? store.operand(value, Row(key: -1, entity: request.fetch.entity, version: 1, values: [:])) : nil
        if store.isUnknown.withLock({ $0 }) { return .unknown }
        // Which of several rows fails first is not specified.
        let codes = values.compactMap { number, value in
            var naive = state.naive
            do throws(NaiveGraph.Refused) { try naive.update(number, name, value) } catch { return error.code }
            return nil as StorageError.Code?
        }
        if Set(codes).count > 1 { return .unknown }
        return try answer {
            _ = try expect { naive in
                // A constant is checked before there is an object.
                if let constant { _ = try naive.checked(constant, request.fetch.entity, name) }
                for (number, value) in values { try naive.update(number, name, value) }
                if naive.violatesUnique { throw NaiveGraph.Refused(code: .uniqueConstraintViolated) }
            }
            return .count(numbers.count)
        }
    }
}

extension NaiveGraph {
    /// Assigns a value like a batch, which changes rows immediately: a required attribute is not checked only at the commit.
    fileprivate mutating func update(_ number: Int, _ name: String, _ value: Value) throws(Refused) {
        if value.isNull, isRequired(name, of: number) { throw Refused(code: .validationFailed) }
        try assign(number, name, value)
    }

    /// Returns whether an object by itself violates a rule.
    func violatesRules(_ number: Int) -> Bool { objects[number].map(violatesRules) ?? false }

    func isRequired(_ name: String, of number: Int) -> Bool {
        let slots = objects[number].map { schema.description($0.entity).slots } ?? []
        return slots.contains { $0.name == name && $0.attribute?.isOptional == false }
    }

    /// Creates an object with values.
    mutating func insert(_ number: Int, _ entity: String, _ home: Int, _ row: [ProgramAssignment]) throws(Refused) {
        create(number, entity, home)
        for item in row { try assign(number, item.name, item.value) }
    }

    /// Returns the different errors for which single records of an upsert are refused.
    func refusals(_ entity: String, _ home: Int, _ first: Int, _ rows: [[ProgramAssignment]]) -> Set<StorageError.Code> {
        Set(
            rows.enumerated().compactMap { position, row in
                var graph = self
                do throws(Refused) { try graph.insert(first + position, entity, home, row) } catch { return error.code }
                return graph.violatesRules(first + position) ? .validationFailed : nil
            })
    }

    /// Updates the objects that have the unique values, and creates missing ones. Returns which ones.
    mutating func upsert(
        _ entity: String, _ home: Int, _ unique: [String], _ first: Int, _ rows: [[ProgramAssignment]]
    ) throws(Refused) -> [String] {
        var delivered: [String] = [], judged = self
        for (position, row) in rows.enumerated() { try judged.insert(first + position, entity, home, row) }
        for position in rows.indices where judged.violatesRules(first + position) { throw Refused(code: .validationFailed) }
        for (position, row) in rows.enumerated() {
            let number = first + position
            guard let candidate = judged.objects[number] else { continue }
            let values = unique.map { candidate.values[$0] ?? .null }
            let found = objects.values.first { other in
                other.home == home && other.entity == entity && !values.contains(where: \.isNull)
                    && zip(unique, values).allSatisfy { ReferenceStore.order(other.values[$0] ?? .null, $1) == 0 }
            }
            if let found {
                for item in row { try assign(found.number, item.name, item.value) }
                delivered.append("\(found.number)")
            } else {
                try insert(number, entity, home, row)
                delivered.append("new")
            }
            if violatesUnique { throw Refused(code: .uniqueConstraintViolated) }
        }
        return delivered
    }
}

internal import Foundation
internal import Polystore
internal import PolystoreStorage

/// Changes of single objects.
extension ProgramRun {
    /// Returns the transaction's own instance of an object; nil if the model has none.
    private func object(_ number: Int, _ step: ProgramStep, _ transaction: BaseTransaction) throws -> DynamicObject? {
        guard state.naive.objects[number] != nil, let key = state.keys[number] else { return nil }
        if let object = held[number] { return object }
        guard let object = try transaction.edit(ObjectID<DynamicObject>(key)) else {
            throw difference(step, "object \(number)", "nothing")
        }
        held[number] = object
        return object
    }

    func change(_ step: ProgramStep, _ transaction: BaseTransaction) throws {
        switch step.kind {
        case .create(let number, let entity, let home): try create(step, number, entity, self.home(home), transaction)
        case .assign(let number, let name, let value):
            guard let object = try object(number, step, transaction) else { return }
            let found = try answer {
                try object.setValue(value, for: name)
                return .done
            }
            try compare(step, try answer { try expect { try $0.assign(number, name, value) } }, found)
        case .relate(let number, let name, let members): try relate(step, number, name, members, transaction)
        case .refer(let number, let name, let target): try refer(step, number, name, target, transaction)
        case .delete(let numbers): try delete(step, numbers, transaction)
        case .importAll(let kind, let entity, let home, let first, let sources):
            try importAll(step, kind, entity, self.home(home), first, sources, transaction)
        case .read(let number):
            guard let object = try object(number, step, transaction) else { return }
            try compare(step, expectedObject(number), try seen(object))
        case .transaction, .nested, .detached, .fetch, .count, .pages, .query, .updateAll, .deleteAll, .insertAll, .upsertAll, .mark, .undo,
            .redo, .watch, .follow, .publishCount, .reopen, .migrate:
            throw difference(step, "a change of an object", "a step that is none")
        }
    }

    /// Applies a change to the naive model, which does not change if it is refused.
    func expect(_ body: (inout NaiveGraph) throws -> Void) throws -> ProgramAnswer {
        var naive = state.naive
        try body(&naive)
        state.naive = naive
        return .done
    }

    private func create(
        _ step: ProgramStep, _ number: Int, _ entity: String, _ home: Int, _ transaction: BaseTransaction
    ) throws {
        if state.naive.objects[number] != nil || state.keys[number] != nil { return }
        let object = try transaction.create(into(entity, home))
        note(number, object.objectID.key, home: home)
        held[number] = object
        state.naive.create(number, entity, home)
    }

    func into(_ entity: String, _ home: Int) -> Into<DynamicObject> {
        isShared(entity) ? Into(entity: entity, configuration(home)) : Into(entity: entity)
    }

    private func relate(
        _ step: ProgramStep, _ number: Int, _ name: String, _ members: [Int], _ transaction: BaseTransaction
    ) throws {
        guard let object = try object(number, step, transaction), let relationship = state.naive.relationship(name, of: number) else {
            return
        }
        let home = state.naive.objects[number]?.home
        let wanted = members.filter { state.naive.isKind($0, of: relationship.destination) && state.naive.objects[$0]?.home == home }
        let targets = try wanted.compactMap { try self.object($0, step, transaction) }
        let found = try answer {
            if relationship.cardinality == .toOne {
                try object.setObject(targets.first, for: name)
            } else {
                try object.setObjects(targets, for: name)
            }
            return .done
        }
        state.naive.relate(number, name, relationship.cardinality == .toOne ? Array(wanted.prefix(1)) : wanted)
        try compare(step, .done, found)
    }

    private func refer(
        _ step: ProgramStep, _ number: Int, _ name: String, _ target: Int?, _ transaction: BaseTransaction
    ) throws {
        guard let object = try object(number, step, transaction),
            let reference = state.naive.references(object.entityName).first(where: { $0.name == name })?.crossReference
        else { return }
        let wanted = target.flatMap { state.naive.isKind($0, of: reference.destination) ? $0 : nil }
        let value: Value = wanted.flatMap { state.keys[$0] }.map { .string($0.description) } ?? .null
        try object.setValue(value, for: name)
        state.naive.refer(number, name, wanted)
    }

    private func delete(_ step: ProgramStep, _ numbers: [Int], _ transaction: BaseTransaction) throws {
        let objects = try numbers.compactMap { try object($0, step, transaction) }
        if objects.isEmpty { return }
        let found = try answer {
            try transaction.delete(objects)
            return .done
        }
        let expected = try answer { try expect { try $0.delete(numbers) } }
        for number in held.keys where state.naive.objects[number] == nil { held[number] = nil }
        try compare(step, expected, found)
    }
}

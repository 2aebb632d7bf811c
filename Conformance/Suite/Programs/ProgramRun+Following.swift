internal import Foundation
internal import Polystore
internal import PolystoreStorage

/// An object that a monitor and a publisher observe during a whole program.
final class ProgramFollower: ObjectObserver {
    let number: Int
    let publisher: ObjectPublisher<DynamicObject>
    private let monitor: ObjectMonitor<DynamicObject>
    /// The names of the properties that were reported as changed since they were last taken.
    private var changed: Set<String> = []
    private(set) var isDeleted = false
    /// The object after the step before.
    var former: ProgramAnswer

    init(_ number: Int, _ key: ObjectKey, _ former: ProgramAnswer, _ view: ViewContext, _ stack: DataStack) throws {
        self.number = number
        self.former = former
        let id = ObjectID<DynamicObject>(key)
        monitor = try view.monitorObject(id)
        publisher = try stack.publishObject(id)
        monitor.addObserver(self)
    }

    func take() -> Set<String> {
        defer { changed = [] }
        return changed
    }

    func objectMonitor(
        _ monitor: ObjectMonitor<DynamicObject>, didUpdateObject object: DynamicObject, changedPersistentKeys: Set<String>
    ) {
        changed.formUnion(changedPersistentKeys)
    }

    func objectMonitor(_ monitor: ObjectMonitor<DynamicObject>, didDeleteObject object: DynamicObject) { isDeleted = true }
}

/// The number of objects of a request that a publisher observes during a whole program.
struct ProgramCounter {
    let request: ProgramRequest
    let publisher: ValuePublisher<Int>
}

/// Observers of objects and of values.
extension ProgramRun {
    func follow(_ step: ProgramStep, _ number: Int) throws {
        guard let key = state.keys[number], state.naive.objects[number] != nil else { return }
        followers.append(try ProgramFollower(number, key, expectedObject(number), view, stack))
    }

    func publishCount(_ step: ProgramStep, _ request: ProgramRequest) throws {
        guard expectedNumbers(request) != nil else { return }
        let from = from(request, request.fetch.predicate, isInTransaction: false)
        counters.append(ProgramCounter(request: request, publisher: try stack.publishValue { try $0.fetchCount(from) }))
    }

    /// Compares the observed objects and numbers with the naive model.
    func verifyFollowers(_ step: ProgramStep) throws {
        for follower in followers { try verify(follower, step) }
        followers.removeAll { state.naive.objects[$0.number] == nil }
        counters.removeAll { expectedNumbers($0.request) == nil }
        for counter in counters {
            let expected = expectedNumbers(counter.request)?.count ?? 0
            _ = Waiting.until(20) { counter.publisher.value == expected }
            try compare(step, .text("published count \(expected)"), .text("published count \(counter.publisher.value ?? -1)"))
        }
    }

    private func verify(_ follower: ProgramFollower, _ step: ProgramStep) throws {
        let number = follower.number, expected = expectedObject(number)
        _ = try Waiting.until(20) { expected.agrees(with: try published(follower)) }
        try compare(step, expected, try published(follower))
        let isDeleted = state.naive.objects[number] == nil
        try compare(step, .text("\(number) deleted: \(isDeleted)"), .text("\(number) deleted: \(follower.isDeleted)"))
        let changed = follower.take(), former = follower.former
        follower.former = expected
        // Several commits of one step can change a value and change it back.
        guard case .transaction = step.kind, case .object(_, let before, _) = former, case .object(_, let after, _) = expected else {
            return
        }
        let wanted = after.filter { ReferenceStore.order($1, before[$0] ?? .null) != 0 }.keys.sorted()
        try compare(step, .text("changed \(wanted)"), .text("changed \(changed.filter { after[$0] != nil }.sorted())"))
    }

    /// Returns the object that a publisher shows.
    private func published(_ follower: ProgramFollower) throws -> ProgramAnswer {
        guard let snapshot = follower.publisher.snapshot else { return .text("nothing") }
        let description = schema.description(snapshot.entityName)
        var values: [String: Value] = [:], related: [String: [Int]] = [:]
        for slot in description.slots {
            guard let attribute = slot.attribute, let value = snapshot.value(slot.name) else { continue }
            if attribute.crossReference == nil {
                values[slot.name] = value
            } else if case .string(let text) = value {
                related[slot.name] = [ObjectKey(text).flatMap { state.numbers[$0] } ?? -1]
            } else {
                related[slot.name] = []
            }
        }
        for item in description.relationships {
            let numbers = (snapshot.objectIDs(item.relationship.name) ?? []).map { state.numbers[$0.key] ?? -1 }
            related[item.relationship.name] = item.relationship.cardinality == .toManyOrdered ? numbers : numbers.sorted()
        }
        return .object(entity: snapshot.entityName, values: values, related: related)
    }
}

internal import Polystore
internal import PolystoreSchema
internal import PolystoreStorage

/// Random pairs of transactions over random models, merged by the policy `mine` and compared with one transaction after the other.
extension DetachedCases {
    static let randomSerial: [ConformanceCase] = [
        ConformanceCase("L042.random-deletions-merge-as-in-their-order", clause: "W20") { harness, check in
            var random = SplitMix(seed: RandomCases.seed)
            for round in 0..<30 { try randomScene(harness, check, "round \(round)", &random) }
        }
    ]

    /// A change of the objects of a scene.
    private enum Change: CustomStringConvertible {
        case set(String, String, String?)
        case include(String, String, String)
        case exclude(String, String, String)
        case rename(String, Int)
        case delete([String])

        var description: String {
            switch self {
            case .set(let name, let property, let target): "\(name).\(property) = \(target ?? "nil")"
            case .include(let name, let property, let target): "\(name).\(property) += \(target)"
            case .exclude(let name, let property, let target): "\(name).\(property) -= \(target)"
            case .rename(let name, let mark): "\(name).mark = \(mark)"
            case .delete(let names): "delete \(names)"
            }
        }

        var isDeletion: Bool { if case .delete = self { true } else { false } }

        /// The objects that the change assigns or refers to.
        var names: [String] {
            switch self {
            case .set(let name, _, let target): [name] + [target].compactMap { $0 }
            case .include(let name, _, let target), .exclude(let name, _, let target): [name, target]
            case .rename(let name, _): [name]
            case .delete: []
            }
        }

        func apply(_ objects: SerialObjects) throws {
            switch self {
            case .set(let name, let property, let target): try objects.set(name, property, target)
            case .include(let name, let property, let target): try objects.include(name, property, target)
            case .exclude(let name, let property, let target): try objects.exclude(name, property, target)
            case .rename(let name, let mark): try objects.rename(name, mark)
            case .delete(let names): try objects.delete(names)
            }
        }
    }

    private struct RandomModel {
        var rooms: [Relationship] = []
        var seats: [Relationship] = []

        init(_ random: inout SplitMix) {
            func rule() -> DeleteRule { [.cascade, .cascade, .nullify, .deny].randomElement(using: &random) ?? .nullify }
            func kind() -> Bool { Bool.random(using: &random) }
            if kind() {
                rooms.append(Relationship("pair", to: "Seat", .toOne, inverse: "pair", deleteRule: rule()))
                seats.append(Relationship("pair", to: "Room", .toOne, inverse: "pair", deleteRule: rule()))
            }
            if kind() {
                rooms.append(Relationship("seats", to: "Seat", .toMany, inverse: "hall", deleteRule: rule()))
                seats.append(Relationship("hall", to: "Room", .toOne, inverse: "seats", deleteRule: rule()))
            }
            if kind() {
                rooms.append(Relationship("list", to: "Seat", .toManyOrdered, inverse: "row", deleteRule: rule()))
                seats.append(Relationship("row", to: "Room", .toOne, inverse: "list", deleteRule: rule()))
            }
            if kind() {
                rooms.append(Relationship("next", to: "Room", .toOne, inverse: "former", deleteRule: rule()))
                rooms.append(Relationship("former", to: "Room", .toMany, inverse: "next", deleteRule: rule()))
            }
            if kind() || rooms.isEmpty {
                rooms.append(Relationship("visited", to: "Seat", .toMany, inverse: "visitors", deleteRule: rule()))
                seats.append(Relationship("visitors", to: "Room", .toMany, inverse: "visited", deleteRule: rule()))
            }
            if kind() {
                rooms.append(Relationship("tour", to: "Seat", .toManyOrdered, inverse: "tours", deleteRule: rule()))
                seats.append(Relationship("tours", to: "Room", .toMany, inverse: "tour", deleteRule: rule()))
            }
            if kind() { seats.append(Relationship("view", to: "Room", .toOne, deleteRule: rule())) }
        }

        func change(_ random: inout SplitMix) -> Change {
            func number() -> Int { Int.random(in: 0..<4, using: &random) }
            let name = "\(Bool.random(using: &random) ? "Room" : "Seat")\(number())"
            switch Int.random(in: 0..<8, using: &random) {
            case 0, 1:
                let second = "\(Bool.random(using: &random) ? "Room" : "Seat")\(number())"
                return .delete(Int.random(in: 0..<4, using: &random) == 0 ? [name, second] : [name])
            case 2: return .rename(name, Int.random(in: 1..<9, using: &random))
            default:
                let own = name.hasPrefix("Room") ? rooms : seats
                guard let relationship = own.randomElement(using: &random) else { return .rename(name, 0) }
                let target = "\(relationship.destination)\(number())"
                if relationship.cardinality != .toOne {
                    return Int.random(in: 0..<3, using: &random) == 0
                        ? .exclude(name, relationship.name, target) : .include(name, relationship.name, target)
                }
                return .set(name, relationship.name, Int.random(in: 0..<5, using: &random) == 0 ? nil : target)
            }
        }
    }

    /// Runs random changes detached from other ones and after them, and compares the results.
    private static func randomScene(_ harness: StoreHarness, _ check: Check, _ name: String, _ random: inout SplitMix) throws {
        let model = RandomModel(&random)
        let first = (0..<6).map { _ in model.change(&random) }.filter { !$0.isDeletion }
        let there = (0..<Int.random(in: 1...4, using: &random)).map { _ in model.change(&random) }
        // Deletions are repeated after the assignments, so they come last.
        let changes = (0..<Int.random(in: 1...5, using: &random)).map { _ in model.change(&random) }
        let assignments = changes.filter { !$0.isDeletion }
        let included = assignments.map { if case .include = $0 { Set($0.names) } else { Set<String>() } }
        // A pair that is added and removed again is no change.
        let planned =
            assignments.filter { if case .exclude = $0 { !included.contains(Set($0.names)) } else { true } } + changes.filter(\.isDeletion)
        let scene = SerialScene(rooms: model.rooms, seats: model.seats, count: 4)
        // A change without effect, or that is denied, is left out: the contract does not specify its meaning after another one.
        var here: [Change] = [], hasLost = false
        let results = try scene.run(harness) { objects in
            for change in first { try change.apply(objects) }
        } rehearsal: { objects in
            for change in planned {
                let before = try objects.text()
                do { try change.apply(objects) } catch let error as StorageError where error.code == .deleteDenied { continue }
                if try objects.text() != before { here.append(change) }
            }
        } there: { objects in
            for change in there { try? change.apply(objects) }
            // What is assigned to an object that was deleted meanwhile is lost, whereas there is nothing to assign after its deletion.
            let alive = objects.names
            hasLost = hasLost || here.contains { !$0.names.allSatisfy(alive.contains) }
        } here: { objects in
            for change in here { try change.apply(objects) }
        }
        if hasLost { return }
        let story = "\(name): \(model.rooms.map(\.summary) + model.seats.map(\.summary)); before \(first); there \(there); here \(here)"
        check.equal(results.merged, results.serial, story)
    }
}

extension Relationship {
    fileprivate var summary: String { "\(name) \(cardinality) \(destination) \(deleteRule)" }
}

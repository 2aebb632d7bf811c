internal import Foundation
internal import Polystore
internal import PolystoreStorage

/// The kinds of stores that programs run over: one, or two that share entities.
final class ProgramTarget: Sendable {
    let name: String
    private let harnesses: [StoreHarness]

    init(_ harnesses: [StoreHarness]) {
        self.harnesses = harnesses
        name = harnesses.map(\.name).joined(separator: " and ")
    }

    /// The number of stores.
    var count: Int { harnesses.count }

    /// Whether data is still available after closing and opening the stores.
    var isPersistent: Bool { harnesses.allSatisfy { $0.capabilities.contains(.persistent) } }

    /// Whether one transaction can write to all stores.
    var commitsTogether: Bool {
        let schema = try? Schema(entities: [Entity("A"), Entity("B")], configurations: [GraphProgram.second: ["B"]])
        return
            (try? withPlaces { places in
                let stack = try places.stack(schema ?? .empty)
                defer { for store in stack.storages { try? stack.removeStorage(store) } }
                return StorePair(stack: stack, first: stack.storages[0], second: stack.storages[count - 1]).commitsTogether
            }) ?? false
    }

    /// Runs a body with fresh locations.
    func withPlaces<R>(_ body: (ProgramPlaces) throws -> R) throws -> R {
        let places = try harnesses.map { try $0.place() }
        defer { for place in places { place.remove() } }
        return try body(ProgramPlaces(places: places))
    }
}

internal import Foundation
internal import Polystore
internal import PolystoreStorage

/// Where a program runs: one fresh store, or two that share entities.
final class ProgramTarget {
    let name: String
    private let harnesses: [StoreHarness]
    private var places: [StorePlace] = []

    init(_ harnesses: [StoreHarness]) {
        self.harnesses = harnesses
        name = harnesses.map(\.name).joined(separator: " and ")
    }

    /// The number of stores.
    var count: Int { harnesses.count }

    /// Whether what was closed is there when it is opened again.
    var isPersistent: Bool { harnesses.allSatisfy { $0.capabilities.contains(.persistent) } }

    /// Whether one transaction can write to all stores.
    var commitsTogether: Bool {
        let schema = try? Schema(entities: [Entity("A"), Entity("B")], configurations: [GraphProgram.second: ["B"]])
        return
            (try? withPlaces {
                let stack = try stack(schema ?? .empty)
                defer { for store in stack.storages { try? stack.removeStorage(store) } }
                return StorePair(stack: stack, first: stack.storages[0], second: stack.storages[count - 1]).commitsTogether
            }) ?? false
    }

    /// Runs a body with fresh places.
    func withPlaces<R>(_ body: () throws -> R) throws -> R {
        places = try harnesses.map { try $0.place() }
        defer {
            for place in places { place.remove() }
            places = []
        }
        return try body()
    }

    /// A stack over the places.
    func stack(_ schema: Schema) throws -> DataStack {
        let stack = try DataStack(schema: schema)
        for (position, place) in places.enumerated() {
            try stack.addStorageAndWait(place.store(position == 0 ? nil : GraphProgram.second))
        }
        return stack
    }
}

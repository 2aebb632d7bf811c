internal import Foundation
internal import Polystore
internal import PolystoreStorage

/// The stores of a program: a fresh one, or two that share entities.
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

    /// Whether data is still available after closing and opening the stores.
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

    /// Runs a body with fresh locations.
    func withPlaces<R>(_ body: () throws -> R) throws -> R {
        places = try harnesses.map { try $0.place() }
        defer {
            for place in places { place.remove() }
            places = []
        }
        return try body()
    }

    /// Returns a stack over the locations.
    func stack(_ schema: Schema) throws -> DataStack { try stack(SchemaHistory(schema)) }

    /// Returns a stack over the locations, which have the newest version of the model.
    func stack(_ history: SchemaHistory) throws -> DataStack {
        let stack = try DataStack(schemaHistory: history)
        for (position, place) in places.enumerated() {
            try stack.addStorageAndWait(place.store(position == 0 ? nil : GraphProgram.second))
        }
        return stack
    }

    /// Migrates the locations to the newest version of the model. A store that follows another one must have it beside it, at the newest
    /// version.
    func migrate(_ history: SchemaHistory) throws {
        func migrate(_ order: [Int]) throws {
            let stack = try DataStack(schemaHistory: history)
            defer { for store in stack.storages { try? stack.removeStorage(store) } }
            for position in order {
                let configuration = position == 0 ? nil : GraphProgram.second
                try stack.upgradeStorageIfNeeded(places[position].store(configuration))
                try stack.addStorageAndWait(places[position].store(configuration))
            }
        }
        let order = Array(places.indices)
        do {
            try migrate(order)
        } catch let error as StorageError where error.code == .peerUnavailable && count > 1 {
            try migrate(order.reversed())
        }
    }
}

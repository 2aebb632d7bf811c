internal import Polystore

/// The locations of the stores of one run of a program.
struct ProgramPlaces {
    let places: [StorePlace]

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
        } catch let error as StorageError where error.code == .peerUnavailable && places.count > 1 {
            try migrate(order.reversed())
        }
    }
}

internal import PolystoreStorage

extension DataStack {
    /// Finds references into other stores whose destination does not exist, because a program without access to both stores deleted it.
    ///
    /// - Parameter repairing: Whether the delete rule is applied subsequently: `cascade` deletes the object, and all other rules set the
    ///   reference to nil if it is optional. References into stores that are not in the stack are reported but not changed.
    /// - Returns: The references found, before the repair.
    /// - Complexity: Reads every object with references once, in batches, and looks up its destinations.
    @discardableResult
    public func checkReferences(repairing: Bool = false) throws -> [DanglingReference] {
        let attributes = ReferenceAttribute.all(in: schema)
        if repairing {
            return try perform(synchronous: { transaction in
                try ReferenceCheck(transaction.context, attributes).run(repairingIn: transaction)
            })
        }
        return try read(synchronous: { try ReferenceCheck($0.context, attributes).run(repairingIn: nil) })
    }
}

/// A check of all references.
private struct ReferenceCheck {
    let context: ObjectContext
    let attributes: [ReferenceAttribute]

    init(_ context: ObjectContext, _ attributes: [ReferenceAttribute]) {
        self.context = context
        self.attributes = attributes
    }

    func run(repairingIn transaction: WriteTransaction?) throws(StorageError) -> [DanglingReference] {
        var found: [DanglingReference] = []
        for attribute in attributes {
            for store in try context.stack.stores(for: attribute.entity, nil) {
                for (object, dangling) in try dangling(attribute, store) {
                    found.append(dangling)
                    guard let transaction, dangling.isCertain else { continue }
                    let isOptional = object.description.slots[attribute.slot].attribute?.isOptional == true
                    if attribute.reference.inverseDeleteRule == .cascade {
                        try transaction.delete(object)
                    } else if isOptional {
                        object.clear(attribute.slot)
                    }
                }
            }
        }
        return found
    }

    private func dangling(
        _ attribute: ReferenceAttribute, _ store: Int
    ) throws(StorageError) -> [(ManagedObject, DanglingReference)] {
        let name = context.model.schema[attribute.entity].slots[attribute.slot].name
        let path = CheckedPath(steps: [], entity: attribute.entity, leaf: .slot(attribute.slot), type: .string, text: name)
        let plan = FetchPlan(context.model.schema, attribute.entity, where: .not(.isNil(path)))
        let objects = try context.withReader(store) { reader throws(StorageError) in
            try context.objects(for: plan, store: store, reader)
        }
        var keys: [KeyBlock.Place: Set<Int64>] = [:]
        for object in objects {
            guard let key = object.referenceKey(attribute.slot), let place = place(key) else { continue }
            keys[place, default: []].insert(key.key)
        }
        var present: [KeyBlock.Place: Set<Int64>] = [:]
        for (place, wanted) in keys {
            let batch = RowBatch(capacity: wanted.count)
            try context.withReader(place.store) { reader throws(StorageError) in
                try reader.rows(place.root, keys: wanted.sorted(), into: batch)
            }
            present[place] = Set((0..<batch.count).map(batch.key))
        }
        return objects.compactMap { object in
            guard let key = object.referenceKey(attribute.slot) else { return nil }
            let place = place(key)
            if let place, present[place]?.contains(key.key) == true { return nil }
            return (
                object,
                DanglingReference(
                    object: context.objectKey(of: object), entity: object.description.name, attribute: name, destination: key,
                    isCertain: place != nil)
            )
        }
    }

    private func place(_ key: ObjectKey) -> KeyBlock.Place? {
        guard let store = context.stack.position(of: key.store), let root = context.model.schema.index(of: key.root) else { return nil }
        return KeyBlock.Place(store: store, root: root)
    }
}

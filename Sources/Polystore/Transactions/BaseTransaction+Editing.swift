public import PolystoreStorage

extension BaseTransaction {
    /// A new object, kept by the one store that holds its entity.
    ///
    /// - Throws: `notFound` when no store holds the entity, `invalidConfiguration` when several do (name one with `Into`), and for
    ///   an abstract entity.
    public func create<Object: ManagedObject>(_ type: Object.Type = Object.self) throws(StorageError) -> Object {
        if let target = lastTarget(of: Object.self) { return unsafeDowncast(try make(target), to: Object.self) }
        guard let target = knownTarget(Object.self) else { return try create(Into<Object>()) }
        // The class was found to be that of the entity when it was first created.
        return unsafeDowncast(try make(target), to: Object.self)
    }

    /// A new object in the store that `Into` names.
    public func create<Object: ManagedObject>(_ into: Into<Object>) throws(StorageError) -> Object {
        // Nearly always the class alone is named, and was before.
        if into.isPlain, knownTarget(Object.self) != nil { return try create(Object.self) }
        return try reporting { () throws(StorageError) in unsafeDowncast(try make(try target(into)), to: Object.self) }
    }

    /// Where new objects go that `Into` names; their class is that of `Into`, or one below it.
    func target<Object: ManagedObject>(_ into: Into<Object>) throws(StorageError) -> CreationTarget {
        try checkOpen()
        let target = try target(try into.entity(context.model), into.configuration)
        if into.isPlain, target.type == Object.self { remember(target) }
        guard target.type is Object.Type else {
            throw StorageError(.invalidConfiguration, "\(context.model.schema[target.entity].name) has another class")
        }
        return target
    }

    private func target(_ entity: EntityIndex, _ configuration: String??) throws(StorageError) -> CreationTarget {
        let description = context.model.schema[entity]
        if description.isAbstract {
            throw StorageError(
                .invalidConfiguration, "\(description.name) is abstract; create an object of one of its sub-entities",
                details: .init(entity: description.name))
        }
        let stores = try context.stack.stores(for: entity, configuration.map { [$0] })
        guard stores.count == 1 else {
            throw StorageError(
                .invalidConfiguration,
                "\(description.name) is held by several stores; name one: create(Into<\(description.name)>(\"configuration\"))",
                details: .init(entity: description.name))
        }
        return CreationTarget(
            context.model.types[entity], entity, stores[0], keyBlock(entity, stores[0]), context.identityMap(entity, stores[0]))
    }

    /// Where new objects of a class go, found out once.
    func target(of type: ManagedObject.Type) throws(StorageError) -> CreationTarget {
        if let target = knownTarget(type) { return target }
        try checkOpen()
        let entity = try context.model.entity(of: type)
        let target = try target(entity, nil)
        remember(target)
        return target
    }

    @inline(__always)
    private func make(_ target: CreationTarget) throws(StorageError) -> ManagedObject {
        let key = try nextKey(target)
        let object = target.type.init(_new: key, target.entity, context)
        register(object, target)
        return object
    }

    /// The key of the next object of a target, which is to be made at once.
    @inline(__always)
    func nextKey(_ target: CreationTarget) throws(StorageError) -> Int64 {
        let keys = target.keys
        if keys.next == keys.end { try refill(keys) }
        defer { keys.next &+= 1 }
        context.loadingStore = Int32(truncatingIfNeeded: target.store)
        return keys.next
    }

    /// Takes a new object up.
    @inline(__always)
    func register(_ object: ManagedObject, _ target: CreationTarget) {
        target.map.insert(object)
        context.tracker?.inserted.append(object)
    }

    /// The transaction's own instance of an object of any context, to be changed; nil when it no longer exists.
    ///
    /// The row is read in the transaction, so what is edited is never stale.
    public func edit<Object: ManagedObject>(_ object: Object) throws(StorageError) -> Object? {
        try reporting { () throws(StorageError) in
            try checkOpen()
            if object._context === context { return object.isDeletedObject ? nil : object }
            return try context.existing(ObjectID<Object>(object._context.objectKey(of: object)))
        }
    }

    /// The object that an id, a snapshot, a publisher or a monitor stands for, to be changed; nil when it no longer exists.
    public func edit<Object: ManagedObject>(_ representation: some ObjectRepresentation<Object>) throws(StorageError) -> Object? {
        try reporting { () throws(StorageError) in
            try checkOpen()
            return try context.existing(representation.objectID)
        }
    }

    /// The transaction's own instance of an object of any context, if it still has the version that a decision was based on; nil when it
    /// no longer exists.
    ///
    /// - Throws: `staleObject` when somebody else has changed it since.
    public func edit<Object: ManagedObject>(_ object: Object, expecting version: Int64) throws(StorageError) -> Object? {
        try edit(ObjectID<Object>(object._context.objectKey(of: object)), expecting: version)
    }

    /// The object that something stands for, if it still has the version that a decision was based on, such as that of a snapshot; nil when
    /// it no longer exists.
    ///
    /// - Throws: `staleObject` when somebody else has changed it since.
    public func edit<Object: ManagedObject>(
        _ representation: some ObjectRepresentation<Object>, expecting version: Int64
    ) throws(StorageError) -> Object? {
        guard let object = try edit(representation) else { return nil }
        if object.version == version { return object }
        let name = object.description.name
        throw StorageError(
            .staleObject, "\(name) \(object._key) has version \(object.version), not \(version): another transaction changed it",
            details: .init(
                entity: name, keys: [object._key],
                conflicts: [ObjectConflict(entity: name, key: object._key, base: [:], mine: [:], theirs: object.currentValues())]))
    }

    /// Deletes an object, following the delete rules of its relationships.
    ///
    /// - Throws: `deleteDenied` naming the objects in the way; then nothing is changed.
    public func delete(_ object: ManagedObject) throws(StorageError) { try delete([object]) }

    /// Deletes objects, following the delete rules of their relationships.
    ///
    /// - Returns: The number of objects deleted, those that a cascade reached included.
    @discardableResult
    public func delete(_ objects: some Sequence<ManagedObject>) throws(StorageError) -> Int {
        try reporting { () throws(StorageError) in
            var own: [ManagedObject] = []
            for object in objects { if let object = try edit(object) { own.append(object) } }
            var deletion = Deletion(context)
            return try deletion.delete(own)
        }
    }

    /// Deletes the object that an id, a snapshot, a publisher or a monitor stands for, following the delete rules of its relationships.
    ///
    /// - Throws: `deleteDenied` naming the objects in the way; then nothing is changed.
    public func delete(_ representation: some ObjectRepresentation) throws(StorageError) {
        if let object = try edit(representation) { try delete([object as ManagedObject]) }
    }

    /// Deletes two objects or more, following the delete rules of their relationships.
    ///
    /// - Returns: The number of objects deleted, those that a cascade reached included.
    @discardableResult
    public func delete(_ first: ManagedObject, _ second: ManagedObject, _ more: ManagedObject...) throws(StorageError) -> Int {
        try delete([first, second] + more)
    }

    /// The first object that satisfies a condition, or a new one.
    ///
    /// The equalities that the condition demands of the object's own attributes (`\.email == "ann@example.com" && \.active == true`) are
    /// assigned to a new object, so that the same call finds it next time.
    public func fetchOrCreate<Object: ManagedObject>(
        _ type: Object.Type = Object.self, _ condition: Where<Object>
    ) throws(StorageError) -> Object {
        if let found = try fetchOne(From<Object>().where(condition)) { return found }
        let object = try create(type)
        try object.assign(condition.predicate.demandedEqualities)
        return object
    }

    /// Deletes all objects of a request, following the delete rules.
    ///
    /// - Returns: The number of objects deleted, those that a cascade reached included.
    @discardableResult
    public func deleteAll<Object: ManagedObject>(_ from: From<Object>) throws(StorageError) -> Int {
        try reporting { () throws(StorageError) in
            let context = try _fetchContext
            // Where no rule has to be followed no object has to be made.
            let plan = try from.plan(context.model)
            var batch = BatchWork(context, plan)
            let stores = try context.stack.stores(for: plan.entity, from.configurations)
            let isWhole = stores.count == 1 || batch.isPlain
            if let transaction = self as? Transaction, from.includesPendingChanges != false, isWhole, batch.isDeletionAlone {
                return try transaction.wholly { () throws(StorageError) in
                    for store in stores { try batch.delete(in: store) }
                    return batch.count
                }
            }
            var deletion = Deletion(context)
            return try deletion.delete(try context.fetchAll(from))
        }
    }
}

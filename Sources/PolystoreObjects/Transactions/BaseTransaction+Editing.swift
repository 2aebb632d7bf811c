public import PolystoreStorage

extension BaseTransaction {
    /// Creates an object in the one store that holds its entity.
    ///
    /// - Throws: `notFound` if no store holds the entity; `invalidConfiguration` if several stores do (name one with `Into`), and for an
    ///   abstract entity.
    public func create<Object: ManagedObject>(_ type: Object.Type = Object.self) throws(StorageError) -> Object {
        if let target = lastTarget(of: Object.self) { return unsafeDowncast(try make(target), to: Object.self) }
        guard let target = knownTarget(Object.self) else { return try create(Into<Object>()) }
        // The first creation has verified that this is the class of the entity.
        return unsafeDowncast(try make(target), to: Object.self)
    }

    /// Creates an object in the store that `Into` names.
    public func create<Object: ManagedObject>(_ into: Into<Object>) throws(StorageError) -> Object {
        // In the common case `Into` names only the class, and the target of the class is known.
        if into.isPlain, knownTarget(Object.self) != nil { return try create(Object.self) }
        return try reporting { () throws(StorageError) in unsafeDowncast(try make(try target(into)), to: Object.self) }
    }

    /// Returns the creation target for `Into`. The class of its objects is that of `Into`, or a subclass.
    func target<Object: ManagedObject>(_ into: Into<Object>) throws(StorageError) -> CreationTarget {
        try checkOpen()
        let target = try target(try into.entity(context.model), into.place)
        if into.isPlain, target.type == Object.self { remember(target) }
        guard target.type is Object.Type else {
            throw StorageError(
                .invalidConfiguration,
                "the objects of \(context.model.schema[target.entity].name) have the class \(target.type), not \(Object.self)")
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
                "\(description.name) is in several stores; specify one: create(Into<\(description.name)>(\"configuration\"))",
                details: .init(entity: description.name))
        }
        return CreationTarget(
            context.model.types[entity], entity, stores[0], keyBlock(entity, stores[0]), context.identityMap(entity, stores[0]))
    }

    /// Returns the creation target of a class, which is determined only once.
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

    /// Returns the primary key for the next object of a target. The caller must create the object immediately.
    @inline(__always)
    func nextKey(_ target: CreationTarget) throws(StorageError) -> Int64 {
        let keys = target.keys
        if keys.next == keys.end { try refill(keys) }
        defer { keys.next &+= 1 }
        context.loadingStore = Int32(truncatingIfNeeded: target.store)
        return keys.next
    }

    /// Adds a new object to the identity map and to the pending insertions.
    @inline(__always)
    func register(_ object: ManagedObject, _ target: CreationTarget) {
        target.map.insert(object)
        context.tracker?.inserted.append(object)
    }

    /// Returns the transaction's own instance of an object of any context, for editing, or nil if the object no longer exists.
    ///
    /// The row is read in the transaction, so the edited object is never stale.
    public func edit<Object: ManagedObject>(_ object: Object) throws(StorageError) -> Object? {
        try reporting { () throws(StorageError) in
            try checkOpen()
            if object._context === context { return object.isDeletedObject ? nil : object }
            return try context.existing(ObjectID<Object>(object._context.objectKey(of: object)))
        }
    }

    /// Returns the object that an id, a snapshot, a publisher or a monitor represents, for editing, or nil if it no longer exists.
    public func edit<Object: ManagedObject>(_ representation: some ObjectRepresentation<Object>) throws(StorageError) -> Object? {
        try reporting { () throws(StorageError) in
            try checkOpen()
            return try context.existing(representation.objectID)
        }
    }

    /// Returns the transaction's own instance of an object of any context if it still has the version on which a decision was based, or nil
    /// if the object no longer exists.
    ///
    /// - Throws: `staleObject` if another transaction has changed the object since that version.
    public func edit<Object: ManagedObject>(_ object: Object, expecting version: Int64) throws(StorageError) -> Object? {
        try edit(ObjectID<Object>(object._context.objectKey(of: object)), expecting: version)
    }

    /// Returns the represented object if it still has the version on which a decision was based, such as the version of a snapshot, or nil
    /// if the object no longer exists.
    ///
    /// - Throws: `staleObject` if another transaction has changed the object since that version.
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

    /// Deletes an object and applies the delete rules of its relationships.
    ///
    /// - Throws: `deleteDenied`, which names the objects that prevent the deletion. In that case nothing is changed.
    public func delete(_ object: ManagedObject) throws(StorageError) { try delete([object]) }

    /// Deletes objects and applies the delete rules of their relationships.
    ///
    /// - Returns: The number of deleted objects, including those deleted by a cascade.
    @discardableResult
    public func delete(_ objects: some Sequence<ManagedObject>) throws(StorageError) -> Int {
        try reporting { () throws(StorageError) in
            try checkOpen()
            var own: [ManagedObject] = []
            for object in objects {
                // An object that a delete rule has reached is now deleted by name too, whatever a merge makes of the rule.
                if object._context === context { own.append(object) } else if let object = try edit(object) { own.append(object) }
            }
            var deletion = Deletion(context)
            return try deletion.delete(own)
        }
    }

    /// Deletes the object that an id, a snapshot, a publisher or a monitor represents, and applies the delete rules of its relationships.
    ///
    /// - Throws: `deleteDenied`, which names the objects that prevent the deletion. In that case nothing is changed.
    public func delete(_ representation: some ObjectRepresentation) throws(StorageError) {
        if let object = try edit(representation) { try delete([object as ManagedObject]) }
    }

    /// Deletes two or more objects and applies the delete rules of their relationships.
    ///
    /// - Returns: The number of deleted objects, including those deleted by a cascade.
    @discardableResult
    public func delete(_ first: ManagedObject, _ second: ManagedObject, _ more: ManagedObject...) throws(StorageError) -> Int {
        try delete([first, second] + more)
    }

    /// Returns the first object that satisfies a condition, or creates one.
    ///
    /// The equalities that the condition requires of the object's own attributes (`\.email == "ann@example.com" && \.active == true`) are
    /// assigned to the new object, so that the same call finds it the next time.
    public func fetchOrCreate<Object: ManagedObject>(
        _ type: Object.Type = Object.self, _ condition: Where<Object>
    ) throws(StorageError) -> Object {
        if let found = try fetchOne(From<Object>().where(condition)) { return found }
        let object = try create(type)
        try object.assign(condition.predicate.demandedEqualities)
        return object
    }

    /// Deletes all objects of a request and applies the delete rules.
    ///
    /// Objects without delete rules to apply are deleted in one statement where the engine can do so. If a trigger that someone has added to
    /// a table of a SQLite store makes the engine ignore the deletion of such a row (`RAISE(IGNORE)`), this is no error: the object stays and
    /// is not counted.
    ///
    /// - Returns: The number of deleted objects, including those deleted by a cascade.
    @discardableResult
    public func deleteAll<Object: ManagedObject>(_ from: From<Object>) throws(StorageError) -> Int {
        try reporting { () throws(StorageError) in
            let context = try _fetchContext
            // Without delete rules to apply, no object has to be instantiated.
            let plan = try from.plan(context.model)
            var batch = BatchWork(context, plan)
            if let transaction = self as? WriteTransaction, from.includesPendingChanges != false, !context.hasDetachedChanges,
                batch.isDeletionAlone
            {
                let stores = try context.stack.stores(for: plan.entity, from.configurations)
                try batch.select(in: stores)
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

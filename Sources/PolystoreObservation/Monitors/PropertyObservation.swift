public import PolystoreObjects

/// An observation of one property of an object, which lasts while the program retains it.
public final class PropertyObservation<Object: ManagedObject, Value: Equatable> {
    private let monitored: any MonitoredContext
    private let keyPath: KeyPath<Object, Value>
    private var object: Object?
    /// The latest known value; nil before the first one is loaded.
    private var last: Value?
    /// Whether the first value is reported as soon as it is loaded.
    private var isInitialDue = false
    private var body: ((Object, PropertyChange<Value>) -> Void)?
    /// The object that a transaction has deleted, which undo may restore.
    private var deleted: Object?
    package private(set) var unreadError: StorageError?

    init(
        _ object: Object, _ keyPath: KeyPath<Object, Value>, _ value: Value?, _ monitored: any MonitoredContext,
        _ body: @escaping (Object, PropertyChange<Value>) -> Void
    ) {
        self.object = object
        self.keyPath = keyPath
        self.monitored = monitored
        self.body = body
        last = value
    }

    /// Returns the present value. If it cannot be loaded, the context records the error, and the result is nil: a placeholder would be
    /// reported as a change.
    private func value(of object: Object) -> Value? { reading { () throws(StorageError) in try object.load(keyPath) } }

    private func reading<R>(_ body: () throws(StorageError) -> R) -> R? {
        unreadError = nil
        do throws(StorageError) { return try body() } catch {
            monitored.context.fail(error)
            if error.isRetryable { unreadError = error }
            return nil
        }
    }

    func begin() {
        guard let object, let last else { return isInitialDue = true }
        body?(object, PropertyChange(oldValue: nil, newValue: last))
    }

    /// Reports a value that differs from the latest known one. A first value is no change.
    private func tell(_ object: Object, _ value: Value) {
        let before = last, isFirst = before == nil && !isInitialDue
        (last, isInitialDue) = (value, false)
        if !isFirst { body?(object, PropertyChange(oldValue: before, newValue: value)) }
    }

    /// Ends the observation. The closure is not called after this method returns.
    public func invalidate() {
        body = nil
        (object, deleted) = (nil, nil)
        monitored.remove(self)
    }
}

extension PropertyObservation: ContextMonitor {
    package var stores: Set<Int> { object.map { [Int($0._store)] } ?? [] }

    package func prepare(_ batch: CommitBatch, _ sessions: SessionPool, _ stale: StaleObjects) throws(StorageError) -> Bool {
        object != nil && !batch.stores.isEmpty
    }

    package func preparePending() throws(StorageError) -> Bool { object != nil || deleted?.isDeleted == false }

    package func willChange(_ source: (any Hashable & Sendable)?) {}

    package func didChange(_ source: (any Hashable & Sendable)?) {
        if object == nil, let deleted, !deleted.isDeleted {
            (object, self.deleted) = (deleted, nil)
            last = value(of: deleted) ?? last
            body?(deleted, PropertyChange(oldValue: nil, newValue: last))
            return
        }
        guard let object else { return }
        if object.isDeleted { return tellDeletion(of: object) }
        if !monitored.core.hasStore(Int(object._store)) { return goOnWhereItsStoreIs(object) }
        guard let value = value(of: object), value != last else { return }
        tell(object, value)
    }

    private func tellDeletion(of object: Object) {
        self.object = nil
        if monitored.context.tracker != nil { deleted = object }
        body?(object, PropertyChange(oldValue: last, newValue: nil))
    }

    /// Continues with the object of a store that was added again. The object of the removed store does not change, and another one
    /// represents the row.
    private func goOnWhereItsStoreIs(_ object: Object) {
        let id = ObjectID<Object>(object._context.objectKey(of: object)), context = monitored.context
        if monitored.core.position(of: id.key.store) == nil { return }
        _ = reading { () throws(StorageError) in try goOn(with: try context.existing(id), after: object) }
    }

    private func goOn(with next: Object?, after object: Object) throws(StorageError) {
        guard let next else { return tellDeletion(of: object) }
        self.object = next
        unreadError = nil
        let value = try next.load(keyPath)
        if let last, Self.isSame(last, value) { return self.last = value }
        tell(next, value)
    }

    package func cannotFollow() {}

    package func contextDidReset() throws(StorageError) {
        guard let object else { return }
        try goOn(with: try monitored.context.existing(ObjectID<Object>(object._context.objectKey(of: object))), after: object)
    }

    /// Returns whether two values are equal, even if their objects belong to two contexts.
    private static func isSame(_ a: Value, _ b: Value) -> Bool {
        if let a = a as? ManagedObject, let b = b as? ManagedObject { return a.observedKey == b.observedKey }
        if let a = a as? [ManagedObject], let b = b as? [ManagedObject] { return a.map(\.observedKey) == b.map(\.observedKey) }
        if let a = a as? Set<ManagedObject>, let b = b as? Set<ManagedObject> {
            return Set(a.map(\.observedKey)) == Set(b.map(\.observedKey))
        }
        return a == b
    }
}

extension ManagedObject {
    /// The identity of the object in any context.
    fileprivate var observedKey: ObjectKey { _context.objectKey(of: self) }
}

extension ViewContext {
    /// Observes one property of an object, including through to-one relationships.
    ///
    /// - Parameters:
    ///   - object: An object of this context.
    ///   - keyPath: The property.
    ///   - notifyInitial: Whether the closure is also called immediately for the initial value.
    ///   - isolation: The isolation that the context belongs to. The closure is called there, soon after each commit that changed the value
    ///     of the property. Without an isolation, `merge()` calls it.
    ///   - body: A closure called with the object and the change.
    /// - Returns: The observation, which lasts while the program retains it.
    /// - Throws: The error of starting the watch of the stores, of merging pending commits, or of loading the value.
    public func observe<Object: ManagedObject, Value: Equatable>(
        _ object: Object, _ keyPath: KeyPath<Object, Value>, notifyInitial: Bool = false,
        isolation: isolated (any Actor)? = #isolation, _ body: @escaping (Object, PropertyChange<Value>) -> Void
    ) throws(StorageError) -> PropertyObservation<Object, Value> {
        try reporting { () throws(StorageError) in
            _ = try contextToObserve()
            let observation = PropertyObservation(object, keyPath, try object.load(keyPath), self, body)
            add(observation, isolation: isolation)
            if notifyInitial { observation.begin() }
            return observation
        }
    }
}

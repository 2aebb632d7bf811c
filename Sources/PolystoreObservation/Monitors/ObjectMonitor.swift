public import PolystoreObjects

/// A monitor of one object of a context, which notifies its observers of every change, regardless of the writer.
///
/// It belongs to the isolation of its context, retains its observers weakly, and can be shared: an additional observer requires no fetch.
public final class ObjectMonitor<Object: ManagedObject> {
    /// The identity of the object.
    public let objectID: ObjectID<Object>
    /// The object; nil if it was deleted.
    public private(set) var object: Object?
    /// The source identifier of the transaction whose change is being reported; nil outside of calls, and for changes made outside the
    /// stack.
    public private(set) var sourceIdentifier: (any Hashable & Sendable)?

    /// The calls of the methods of a class of observers.
    package struct Calls {
        let will: (AnyObject, ObjectMonitor<Object>, Object) -> Void
        let did: (AnyObject, ObjectMonitor<Object>, Object, Set<String>) -> Void
        let deleted: (AnyObject, ObjectMonitor<Object>, Object) -> Void

        package init(
            will: @escaping (AnyObject, ObjectMonitor<Object>, Object) -> Void,
            did: @escaping (AnyObject, ObjectMonitor<Object>, Object, Set<String>) -> Void,
            deleted: @escaping (AnyObject, ObjectMonitor<Object>, Object) -> Void
        ) {
            self.will = will
            self.did = did
            self.deleted = deleted
        }
    }

    /// The change to report, and the values recorded with it.
    private enum Prepared {
        case updated(Object, Set<String>, [MemberWatch], told: [String: Value])
        case deleted
    }

    private let monitored: any MonitoredContext
    private var observers = WeakObservers<Calls>()
    private var members: [MemberWatch] = []
    private var prepared: Prepared?
    /// The object that a transaction has deleted, which undo may restore.
    private var deleted: Object?
    /// The observers that were notified that the object is about to change, and not yet of the result.
    private var announced: Set<ObjectIdentifier> = []
    /// The number of announced changes that have ended.
    private var endings = 0

    /// The values of the object that a transaction has last reported, or that it had when the monitor was created.
    private var told: [String: Value] = [:]

    init(_ object: Object, _ monitored: any MonitoredContext) throws(StorageError) {
        self.object = object
        self.monitored = monitored
        let context = monitored.context
        objectID = ObjectID(context.objectKey(of: object))
        members = try context.inOneSnapshot { () throws(StorageError) in
            // The values that a fetch did not load are part of the object's previous state.
            if !object.isDeletedObject { try context.loadLeftOut(object) }
            return try MemberWatch.all(of: object, context)
        }
        if context.tracker != nil { told = object.currentValues() }
    }

    /// Adds an observer, which is notified while it is alive. An observer that was already added is notified once.
    public func addObserver<Observer: ObjectObserver>(_ observer: Observer) where Observer.ObjectEntityType == Object {
        add(
            observer,
            Calls(
                will: { observer, monitor, object in (observer as? Observer)?.objectMonitor(monitor, willUpdateObject: object) },
                did: { observer, monitor, object, keys in
                    (observer as? Observer)?.objectMonitor(monitor, didUpdateObject: object, changedPersistentKeys: keys)
                }, deleted: { observer, monitor, object in (observer as? Observer)?.objectMonitor(monitor, didDeleteObject: object) }))
    }

    /// Adds an observer with its calls. An observer that was already added is notified once.
    package func add(_ observer: AnyObject, _ calls: Calls) { observers.add(observer, calls) }

    /// Removes an observer.
    public func removeObserver<Observer: ObjectObserver>(_ observer: Observer) where Observer.ObjectEntityType == Object {
        observers.remove(observer)
    }

    /// Whether the object was deleted.
    public var isObjectDeleted: Bool { object == nil }

    private func tell(_ body: (AnyObject, Calls) -> Void) {
        for (observer, calls) in observers.alive where observers.contains(observer) { body(observer, calls) }
    }
}

extension ObjectMonitor: ContextMonitor {
    /// The position of the object's store, which changes if the store was removed and added again; nil while it is not part of the stack.
    private var store: Int? {
        guard let object else { return nil }
        let known = Int(object._store)
        return monitored.core.hasStore(known) ? known : monitored.core.position(of: objectID.key.store)
    }

    package var stores: Set<Int> { store.map { [$0] } ?? [] }

    package func prepare(_ batch: CommitBatch, _ sessions: SessionPool, _ stale: StaleObjects) throws(StorageError) -> Bool {
        prepared = nil
        guard let object, let store, batch.stores.contains(store) else { return false }
        let schema = monitored.core.model.schema
        var names: Set<String> = [], members = members, next = object
        for index in members.indices where members[index].isConcerned(by: batch, store, schema) {
            if try members[index].hasChanged(object._key, try sessions.reader(store)) { names.insert(members[index].name) }
        }
        if isTouched(object, batch, store) {
            let row = RowBatch(capacity: 1)
            try sessions.reader(store).row(Int(object._entity), key: object._key, into: row)
            if row.count == 0 {
                prepared = .deleted
                return true
            }
            let before = object.currentValues(), after = object.values(row.row(0))
            for (name, value) in after where before[name] != value { names.insert(name) }
            // The object of a removed store is no longer merged.
            if object._store != store {
                next = monitored.context.object(of: row.row(0), Int32(truncatingIfNeeded: store)) as? Object ?? object
            }
        }
        if names.isEmpty {
            self.object = next
            return false
        }
        prepared = .updated(next, names, members, told: told)
        return true
    }

    private func isTouched(_ object: Object, _ batch: CommitBatch, _ store: Int) -> Bool {
        if batch.unknown.contains(store) { return true }
        let schema = monitored.core.model.schema, root = object.description.root
        return batch.runs(in: store).contains { schema[$0.entity].root == root && $0.keys.contains(object._key) }
    }

    package func isMixed(_ batch: CommitBatch, with others: CommitBatch) -> Bool {
        guard let object, let store else { return false }
        if isTouched(object, batch, store), isTouched(object, others, store) { return true }
        let schema = monitored.core.model.schema
        return members.contains { $0.isConcerned(by: batch, store, schema) && $0.isConcerned(by: others, store, schema) }
    }

    package func preparePending() throws(StorageError) -> Bool {
        prepared = nil
        guard let object = self.object ?? deleted else { return false }
        if object.isDeletedObject {
            if self.object == nil { return false }
            prepared = .deleted
            return true
        }
        var names: Set<String> = [], members = members
        for index in members.indices {
            if try members[index].hasChanged(object, monitored.context) { names.insert(members[index].name) }
        }
        let values = object.currentValues()
        for (name, value) in values where told[name] != value { names.insert(name) }
        // A restored object is reported even if its values are unchanged.
        if names.isEmpty, self.object != nil { return false }
        prepared = .updated(object, names, members, told: values)
        return true
    }

    package func willChange(_ source: (any Hashable & Sendable)?) {
        guard case .updated(let next, _, _, _)? = prepared else { return }
        if announced.isEmpty { observers.beginRound() }
        let object = object ?? next, number = endings
        sourceIdentifier = source
        // An observer may reset the context, which notifies the others and reports the result.
        tell { observer, calls in
            if number == endings, announced.insert(ObjectIdentifier(observer)).inserted { calls.will(observer, self, object) }
        }
        sourceIdentifier = nil
    }

    package func didChange(_ source: (any Hashable & Sendable)?) {
        guard let prepared else { return }
        self.prepared = nil
        announced = []
        endings += 1
        sourceIdentifier = source
        switch prepared {
        case .updated(let next, let names, let members, let told):
            (object, deleted, self.members, self.told) = (next, nil, members, told)
            tell { observer, calls in calls.did(observer, self, next, names) }
        case .deleted:
            guard let last = object else { break }
            if monitored.context.tracker != nil { deleted = last }
            object = nil
            observers.beginRound()
            tell { observer, calls in calls.deleted(observer, self, last) }
        }
        sourceIdentifier = nil
    }

    package func cannotFollow() { prepared = nil }

    package func contextDidReset() throws(StorageError) {
        prepared = nil
        guard let object else { return }
        let context = monitored.context, before = object.currentValues()
        var names: Set<String> = [], members = members
        let next = try context.inOneSnapshot { () throws(StorageError) -> Object? in
            guard let next = try context.existing(objectID) else { return nil }
            try context.loadLeftOut(next)
            let reader = try context.heldSessions.reader(Int(next._store))
            for index in members.indices where try members[index].hasChanged(next._key, reader) { names.insert(members[index].name) }
            return next
        }
        guard let next else {
            prepared = .deleted
            return didChange(nil)
        }
        for (name, value) in next.currentValues() where before[name] != value { names.insert(name) }
        if names.isEmpty, announced.isEmpty {
            self.object = next
            return
        }
        // Changes that were committed and not merged before the reset are included. The reset also ends an announced change.
        prepared = .updated(next, names, members, told: told)
        willChange(nil)
        // An observer may have reset it again.
        if monitored.context === context { didChange(nil) }
    }
}

extension ObjectMonitor: ObjectRepresentation {}

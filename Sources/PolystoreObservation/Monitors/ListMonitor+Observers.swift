package import PolystoreFoundation

extension ListMonitor {
    /// The calls of the methods of a class of observers.
    package struct Calls {
        package var willChange: (AnyObject, ListMonitor<Object>) -> Void
        package var didChange: (AnyObject, ListMonitor<Object>) -> Void
        package var willRefetch: (AnyObject, ListMonitor<Object>) -> Void
        package var didRefetch: (AnyObject, ListMonitor<Object>) -> Void
        package var inserted: ((AnyObject, ListMonitor<Object>, Object, IndexPath) -> Void)?
        package var deleted: ((AnyObject, ListMonitor<Object>, Object, IndexPath) -> Void)?
        package var updated: ((AnyObject, ListMonitor<Object>, Object, IndexPath) -> Void)?
        package var moved: ((AnyObject, ListMonitor<Object>, Object, IndexPath, IndexPath) -> Void)?
        package var insertedSection: ((AnyObject, ListMonitor<Object>, ListSectionInfo, Int) -> Void)?
        package var deletedSection: ((AnyObject, ListMonitor<Object>, ListSectionInfo, Int) -> Void)?
    }

    /// Adds an observer with its calls. An observer that was already added is notified once.
    package func add(_ observer: AnyObject, _ calls: Calls) { observers.add(observer, calls) }

    /// Adds an observer, which is notified while it is alive. An observer that was already added is notified once.
    public func addObserver<Observer: ListObserver>(_ observer: Observer) where Observer.ListEntityType == Object {
        observers.add(observer, Self.calls(Observer.self))
    }

    /// Adds an observer, which is also notified of the objects.
    public func addObserver<Observer: ListObjectObserver>(_ observer: Observer) where Observer.ListEntityType == Object {
        observers.add(observer, Self.objectCalls(Observer.self))
    }

    /// Adds an observer, which is also notified of objects and sections.
    public func addObserver<Observer: ListSectionObserver>(_ observer: Observer) where Observer.ListEntityType == Object {
        observers.add(observer, Self.sectionCalls(Observer.self))
    }

    /// The calls of the methods about the list.
    package static func calls<Observer: ListObserver>(_ type: Observer.Type) -> Calls where Observer.ListEntityType == Object {
        Calls(
            willChange: { ($0 as? Observer)?.listMonitorWillChange($1) }, didChange: { ($0 as? Observer)?.listMonitorDidChange($1) },
            willRefetch: { ($0 as? Observer)?.listMonitorWillRefetch($1) },
            didRefetch: { ($0 as? Observer)?.listMonitorDidRefetch($1) })
    }

    /// The calls of the methods about the list and its objects.
    package static func objectCalls<Observer: ListObjectObserver>(_ type: Observer.Type) -> Calls
    where Observer.ListEntityType == Object {
        var calls = calls(type)
        calls.inserted = { ($0 as? Observer)?.listMonitor($1, didInsertObject: $2, toIndexPath: $3) }
        calls.deleted = { ($0 as? Observer)?.listMonitor($1, didDeleteObject: $2, fromIndexPath: $3) }
        calls.updated = { ($0 as? Observer)?.listMonitor($1, didUpdateObject: $2, atIndexPath: $3) }
        calls.moved = { ($0 as? Observer)?.listMonitor($1, didMoveObject: $2, fromIndexPath: $3, toIndexPath: $4) }
        return calls
    }

    /// The calls of the methods about the list, its objects and sections.
    package static func sectionCalls<Observer: ListSectionObserver>(_ type: Observer.Type) -> Calls
    where Observer.ListEntityType == Object {
        var calls = objectCalls(type)
        calls.insertedSection = { ($0 as? Observer)?.listMonitor($1, didInsertSection: $2, toSectionIndex: $3) }
        calls.deletedSection = { ($0 as? Observer)?.listMonitor($1, didDeleteSection: $2, fromSectionIndex: $3) }
        return calls
    }

    /// Removes an observer.
    public func removeObserver<Observer: ListObserver>(_ observer: Observer) where Observer.ListEntityType == Object {
        observers.remove(observer)
    }

    func tell(_ body: (AnyObject, Calls) -> Void) {
        for (observer, calls) in observers.alive where observers.contains(observer) { body(observer, calls) }
    }
}

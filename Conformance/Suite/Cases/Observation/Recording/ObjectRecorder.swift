internal import Polystore

/// Writes down what an object monitor tells of a person: `will 1`, `did 2 age`.
final class ObjectRecorder: ObjectObserver {
    private(set) var calls: [String] = []

    /// Held for as long as somebody listens.
    private let monitor: ObjectMonitor<Person>

    init(_ monitor: ObjectMonitor<Person>) {
        self.monitor = monitor
        monitor.addObserver(self)
    }

    func take() -> [String] {
        defer { calls = [] }
        return calls
    }

    func objectMonitor(_ monitor: ObjectMonitor<Person>, willUpdateObject object: Person) { calls.append("will \(object.age)") }

    func objectMonitor(_ monitor: ObjectMonitor<Person>, didUpdateObject object: Person, changedPersistentKeys: Set<String>) {
        calls.append("did \(object.age) \(changedPersistentKeys.sorted().joined(separator: ","))")
    }

    func objectMonitor(_ monitor: ObjectMonitor<Person>, didDeleteObject object: Person) { calls.append("deleted \(object.age)") }
}

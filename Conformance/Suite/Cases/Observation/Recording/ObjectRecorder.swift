internal import Polystore

/// A recorder of an object monitor's notifications about a person, as text: `will 1`, `did 2 age`.
final class ObjectRecorder: ObjectObserver {
    private(set) var calls: [String] = []

    /// The monitor, which is retained while the recorder listens.
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

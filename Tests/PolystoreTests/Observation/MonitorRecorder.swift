import Foundation
import Polystore

/// Writes down what it is told, and keeps the names of a list up to date by that alone.
final class MonitorRecorder: ListSectionObserver, ObjectObserver {
    typealias ListEntityType = Person
    typealias ObjectEntityType = Person

    private(set) var calls: [String] = []
    private(set) var sources: [String] = []
    /// The keys of the list, section by section, as the calls have made them.
    private(set) var shown: [[Int64]]
    private var names: [String]
    private var taken: [(IndexPath, Int64)] = [], put: [(IndexPath, Int64)] = []
    private var goneSections: [Int] = [], newSections: [(Int, String)] = []

    init(_ monitor: ListMonitor<Person>? = nil) {
        shown = monitor.map(Self.keys) ?? []
        names = monitor?.sections.map(\.identifier) ?? []
    }

    static func keys(_ monitor: ListMonitor<Person>) -> [[Int64]] {
        var ids = monitor.objectIDs[...]
        return monitor.sections.map { section in
            defer { ids = ids.dropFirst(section.numberOfObjects) }
            return ids.prefix(section.numberOfObjects).map(\.key.key)
        }
    }

    func take() -> [String] {
        defer { calls = [] }
        return calls
    }

    private func text(_ path: IndexPath) -> String { "\(path[0]).\(path[1])" }
    private func note(_ call: String, _ source: (any Hashable & Sendable)?) {
        calls.append(call)
        if let source = source as? String { sources.append(source) }
    }

    func listMonitorWillChange(_ monitor: ListMonitor<Person>) { note("will", monitor.sourceIdentifier) }
    func listMonitorWillRefetch(_ monitor: ListMonitor<Person>) { note("willRefetch", nil) }

    func listMonitorDidRefetch(_ monitor: ListMonitor<Person>) {
        note("didRefetch", nil)
        shown = Self.keys(monitor)
        names = monitor.sections.map(\.identifier)
    }

    func listMonitorDidChange(_ monitor: ListMonitor<Person>) {
        note("did", monitor.sourceIdentifier)
        for (path, _) in taken.sorted(by: { $0.0 > $1.0 }) { shown[path[0]].remove(at: path[1]) }
        for section in goneSections.sorted(by: >) {
            shown.remove(at: section)
            names.remove(at: section)
        }
        for (section, name) in newSections.sorted(by: { $0.0 < $1.0 }) {
            shown.insert([], at: section)
            names.insert(name, at: section)
        }
        for (path, key) in put.sorted(by: { $0.0 < $1.0 }) { shown[path[0]].insert(key, at: path[1]) }
        (taken, put, goneSections, newSections) = ([], [], [], [])
    }

    func listMonitor(_ monitor: ListMonitor<Person>, didInsertObject object: Person, toIndexPath indexPath: IndexPath) {
        note("insert \(object.name) \(text(indexPath))", nil)
        put.append((indexPath, object._key))
    }

    func listMonitor(_ monitor: ListMonitor<Person>, didDeleteObject object: Person, fromIndexPath indexPath: IndexPath) {
        note("delete \(text(indexPath))", nil)
        taken.append((indexPath, object._key))
    }

    func listMonitor(_ monitor: ListMonitor<Person>, didUpdateObject object: Person, atIndexPath indexPath: IndexPath) {
        note("update \(object.name) \(text(indexPath))", nil)
    }

    func listMonitor(_ monitor: ListMonitor<Person>, didMoveObject object: Person, fromIndexPath: IndexPath, toIndexPath: IndexPath) {
        note("move \(object.name) \(text(fromIndexPath)) \(text(toIndexPath))", nil)
        taken.append((fromIndexPath, object._key))
        put.append((toIndexPath, object._key))
    }

    func listMonitor(_ monitor: ListMonitor<Person>, didInsertSection sectionInfo: ListSectionInfo, toSectionIndex sectionIndex: Int) {
        note("section+ \(sectionInfo.name) \(sectionIndex)", nil)
        newSections.append((sectionIndex, sectionInfo.identifier))
    }

    func listMonitor(_ monitor: ListMonitor<Person>, didDeleteSection sectionInfo: ListSectionInfo, fromSectionIndex sectionIndex: Int) {
        note("section- \(sectionInfo.name) \(sectionIndex)", nil)
        goneSections.append(sectionIndex)
    }

    func objectMonitor(_ monitor: ObjectMonitor<Person>, willUpdateObject object: Person) { note("will \(object.name) \(object.age)", nil) }

    func objectMonitor(_ monitor: ObjectMonitor<Person>, didUpdateObject object: Person, changedPersistentKeys: Set<String>) {
        note("did \(object.name) \(object.age) \(changedPersistentKeys.sorted().joined(separator: ","))", monitor.sourceIdentifier)
    }

    func objectMonitor(_ monitor: ObjectMonitor<Person>, didDeleteObject object: Person) {
        note("deleted \(object.name) \(monitor.object == nil)", nil)
    }
}

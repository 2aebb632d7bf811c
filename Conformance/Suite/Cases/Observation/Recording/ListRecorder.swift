internal import Foundation
internal import Polystore
internal import PolystoreStorage

/// A recorder of a list monitor's notifications, which keeps its own list up to date from them alone.
final class ListRecorder<Object: ManagedObject>: ListSectionObserver {
    typealias ListEntityType = Object

    /// The notifications since they were last taken, as text: `insert 0.2`.
    private(set) var calls: [String] = []
    /// The source identifiers of the reported transactions; nil for none.
    private(set) var sources: [String?] = []
    /// The number of times that the list changed or was fetched again.
    private(set) var events = 0
    /// The number of times that the list was fetched again.
    private(set) var refetches = 0
    /// The objects that the last event updated.
    private(set) var updated: Set<ObjectKey> = []
    /// Notifications that are inconsistent.
    private(set) var problems: [String] = []
    private(set) var shown: ShadowList
    /// A closure that is called at the end of each event.
    var whenTold: ((ListMonitor<Object>) -> Void)?
    /// The monitor, which is retained while the recorder listens.
    private let monitor: ListMonitor<Object>
    private var edit = ShadowList.Edit()
    private var isOpen = false

    init(_ monitor: ListMonitor<Object>) {
        self.monitor = monitor
        shown = ShadowList(monitor)
        monitor.addObserver(self)
    }

    func take() -> [String] {
        defer { calls = [] }
        return calls
    }

    private func text(_ path: IndexPath) -> String { path.map { "\($0)" }.joined(separator: ".") }

    func listMonitorWillChange(_ monitor: ListMonitor<Object>) {
        calls.append("will")
        if isOpen { problems.append("will change twice") }
        isOpen = true
        if ShadowList(monitor) != shown { problems.append("the list has changed before its notification") }
    }

    func listMonitorDidChange(_ monitor: ListMonitor<Object>) {
        calls.append("did")
        sources.append(monitor.sourceIdentifier as? String)
        events += 1
        if !isOpen { problems.append("did change without will change") }
        isOpen = false
        updated = Set((monitor.changes?.updated ?? []).compactMap { shown[$0] })
        if let problem = shown.apply(edit) { problems.append(problem) }
        edit = ShadowList.Edit()
        if ShadowList(monitor) != shown { problems.append("delivered \(shown), but the list is \(ShadowList(monitor))") }
        whenTold?(monitor)
    }

    func listMonitorWillRefetch(_ monitor: ListMonitor<Object>) { calls.append("willRefetch") }

    func listMonitorDidRefetch(_ monitor: ListMonitor<Object>) {
        calls.append("didRefetch")
        sources.append(monitor.sourceIdentifier as? String)
        events += 1
        refetches += 1
        updated = []
        shown = ShadowList(monitor)
        whenTold?(monitor)
    }

    func listMonitor(_ monitor: ListMonitor<Object>, didInsertObject object: Object, toIndexPath indexPath: IndexPath) {
        calls.append("insert \(text(indexPath))")
        if shown.keys.contains(object.objectID.key) { problems.append("an insertion of an existing item") }
        edit.inserted.append((indexPath, object.objectID.key))
    }

    func listMonitor(_ monitor: ListMonitor<Object>, didDeleteObject object: Object, fromIndexPath indexPath: IndexPath) {
        calls.append("delete \(text(indexPath))")
        if shown[indexPath] != object.objectID.key { problems.append("a deletion of another object at \(text(indexPath))") }
        edit.deleted.append(indexPath)
    }

    func listMonitor(_ monitor: ListMonitor<Object>, didUpdateObject object: Object, atIndexPath indexPath: IndexPath) {
        calls.append("update \(text(indexPath))")
        if shown[indexPath] != object.objectID.key { problems.append("an update of another object at \(text(indexPath))") }
    }

    func listMonitor(_ monitor: ListMonitor<Object>, didMoveObject object: Object, fromIndexPath: IndexPath, toIndexPath: IndexPath) {
        calls.append("move \(text(fromIndexPath)) \(text(toIndexPath))")
        if shown[fromIndexPath] != object.objectID.key { problems.append("a move of another object from \(text(fromIndexPath))") }
        edit.moved.append((fromIndexPath, toIndexPath))
    }

    func listMonitor(_ monitor: ListMonitor<Object>, didInsertSection sectionInfo: ListSectionInfo, toSectionIndex sectionIndex: Int) {
        calls.append("section+ \(sectionInfo.name)")
        edit.insertedSections.append((sectionIndex, sectionInfo.identifier))
    }

    func listMonitor(_ monitor: ListMonitor<Object>, didDeleteSection sectionInfo: ListSectionInfo, fromSectionIndex sectionIndex: Int) {
        calls.append("section- \(sectionInfo.name)")
        edit.deletedSections.append(sectionIndex)
    }
}

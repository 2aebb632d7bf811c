#if Macros
import Foundation
import PolystoreCompatibility
import protocol PolystoreCompatibility.ListObjectObserver
import PolystoreInMemory
import PolystoreMacros
import Testing

// A model beside the names of CoreStore, among which is another `Entity`.
@Model final class Paper: ManagedObject {
    @Attribute(.unique) var title: String = ""
    @Relationship var journal: Journal?
}

@Model(indexes: [Index(["name"])]) final class Journal: ManagedObject {
    var name: String = ""
    @Relationship(inverse: \Paper.journal) var papers: Set<Paper>
}

@Suite struct CompatibleModelTests {
    @Test func aModelCompilesBesideTypesWithTheSameNamesOfOtherLibraries() throws {
        let stack = try DataStack(Paper.self, Journal.self)
        try stack.addStorageAndWait(InMemoryStore())
        try stack.perform(synchronous: { transaction in
            let paper = try transaction.create(Into<Paper>())
            paper.title = "On Stores"
            paper.journal = try transaction.create(Into<Journal>())
        })
        #expect(try stack.fetchAll(From<Paper>()).map { $0.journal?.papers.count } == [1])
    }

    /// An observer in a form that only CoreStore has, in a file with both modules.
    final class Titles: @MainActor ListObjectObserver {
        typealias ListEntityType = Paper
        var all: [String] = []

        func listMonitorDidChange(_ monitor: ListMonitor<Paper>) {}
        func listMonitorDidRefetch(_ monitor: ListMonitor<Paper>) {}
        func listMonitor(_ monitor: ListMonitor<Paper>, didInsertObject object: Paper, toIndexPath indexPath: NSIndexPath) {
            all.append(object.title)
        }
    }

    @Test @MainActor func anObserverChoosesTheProtocolOfCoreStore() throws {
        let stack = try DataStack(Paper.self, Journal.self), titles = Titles()
        try stack.addStorageAndWait(InMemoryStore())
        let monitor = try stack.monitorList(From<Paper>(), OrderBy(.ascending(\.title)))
        monitor.addObserver(titles)
        try stack.perform(synchronous: { try $0.create(Into<Paper>()).title = "On Stores" })
        try stack.viewContext.merge()
        #expect(titles.all == ["On Stores"])
    }
}
#endif

#if Macros
import Foundation
import Polystore
import PolystoreInMemory
import PolystoreMacros
import Testing

/// The samples of "Observing Changes".
@Suite(.scratch) struct ObservingChangesSamples {
    @Model final class ToDo: ManagedObject {
        var title: String = ""
        var project: String = ""
        var priority: Int = 0
        var isDone: Bool = false
    }

    private func stack(_ titles: String...) throws -> DataStack {
        let stack = try DataStack(ToDo.self)
        try stack.addStorageAndWait(InMemoryStore())
        try stack.perform(synchronous: { transaction in
            for (number, title) in titles.enumerated() {
                let task = try transaction.create(ToDo.self)
                (task.title, task.priority) = (title, number)
            }
        })
        return stack
    }

    @Test func aListIsFollowed() async throws {
        let stack = try stack("Tea", "Ink")
        let following = Task {
            let urgent = try stack.publishList(From<ToDo>().where(\.isDone == false).orderBy(.descending(\.priority), .ascending(\.title)))
            for await update in urgent.updates {
                let titles = try stack.fetchExisting(update.snapshot.itemIDs).map(\.title)
                print(titles, "new:", update.changes?.inserted.count ?? 0)
            }
        }
        try await eventually { printed == [#"["Ink", "Tea"] new: 0"#] }
        try await stack.perform { transaction in
            let task = try transaction.create(ToDo.self)
            (task.title, task.priority) = ("Pen", 9)
        }
        try await eventually { printed.last == #"["Pen", "Ink", "Tea"] new: 1"# }
        following.cancel()
    }

    @Test func anObjectIsFollowed() async throws {
        let stack = try stack("Tea"), tea = try #require(try stack.fetchIDs(From<ToDo>()).first)
        let following = Task {
            let publisher = try stack.publishObject(tea)
            for await snapshot in publisher.snapshots {
                print(snapshot?.title ?? "deleted", snapshot?.priority ?? 0)
                if snapshot == nil { break }
            }
        }
        try await eventually { printed == ["Tea 0"] }
        try await stack.perform { try $0.edit(tea)?.priority = 3 }
        try await eventually { printed.last == "Tea 3" }
        try await stack.perform { try $0.delete(tea) }
        try await following.value
        #expect(printed == ["Tea 0", "Tea 3", "deleted 0"])
    }

    @Test func aValueIsFollowed() async throws {
        let stack = try stack("Tea", "Ink")
        let following = Task {
            let share = try stack.publishValue(of: ToDo.self) { transaction in
                let all = try transaction.fetchCount(From<ToDo>())
                return all == 0 ? 0 : 100 * (try transaction.fetchCount(From<ToDo>().where(\.isDone == true))) / all
            }
            for await percent in share.values { print(percent, "% done") }
        }
        try await eventually { printed == ["0 % done"] }
        try await stack.perform { try $0.fetchOne(From<ToDo>())?.isDone = true }
        try await eventually { printed == ["0 % done", "50 % done"] }
        following.cancel()
    }

    @MainActor final class TaskTable: @MainActor ListObjectObserver {
        var rows: [String] = []

        func show(_ monitor: ListMonitor<ToDo>) { rows = (0..<monitor.numberOfObjects).map { monitor[$0].title } }

        func listMonitorDidChange(_ monitor: ListMonitor<ToDo>) { show(monitor) }
        func listMonitorDidRefetch(_ monitor: ListMonitor<ToDo>) { show(monitor) }

        func listMonitor(_ monitor: ListMonitor<ToDo>, didInsertObject object: ToDo, toIndexPath indexPath: IndexPath) {
            print(object.title, "is new at", indexPath.item)
        }
        func listMonitor(_ monitor: ListMonitor<ToDo>, didDeleteObject object: ToDo, fromIndexPath indexPath: IndexPath) {
            print(rows[indexPath.item], "is gone")
        }
        func listMonitor(_ monitor: ListMonitor<ToDo>, didUpdateObject object: ToDo, atIndexPath indexPath: IndexPath) {
            print(rows[indexPath.item], "is", object.title, "now")
        }
        func listMonitor(
            _ monitor: ListMonitor<ToDo>, didMoveObject object: ToDo, fromIndexPath: IndexPath, toIndexPath: IndexPath
        ) {
            print(object.title, "has moved from", fromIndexPath.item, "to", toIndexPath.item)
        }
    }

    @Test @MainActor func aTableIsUpdated() async throws {
        let stack = try stack("Tea"), table = TaskTable()
        let monitor = try stack.viewContext.monitorList(From<ToDo>().orderBy(.ascending(\.title)))
        monitor.addObserver(table)
        table.show(monitor)
        #expect(table.rows == ["Tea"])
        try await stack.perform { try $0.create(ToDo.self).title = "Ink" }
        try await eventually { table.rows == ["Ink", "Tea"] }
        try await stack.perform { try $0.fetchOne(From<ToDo>().where(\.title == "Ink"))?.title = "Violet ink" }
        try await eventually { table.rows == ["Tea", "Violet ink"] }
        try await stack.perform { _ = try $0.deleteAll(From<ToDo>().where(\.title == "Tea")) }
        try await eventually { table.rows == ["Violet ink"] }
        try await stack.perform { transaction in
            try transaction.create(ToDo.self).title = "Bread"
            try transaction.fetchOne(From<ToDo>())?.isDone = true
        }
        // The update has the position before the insertion.
        try await eventually { table.rows == ["Bread", "Violet ink"] }
        #expect(printed.suffix(2).sorted() == ["Bread is new at 0", "Violet ink is Violet ink now"])
    }

    @Test func commitsAreFollowed() async throws {
        let stack = try stack("Tea")
        let following = Task {
            for await commit in try stack.commits() {
                let added = commit.changes.insertedObjectIDs(ToDo.self)
                print(commit.authors.map(\.name), added.count, commit.isRemote)
            }
        }
        // The feed begins at some time after the task does.
        try await eventually {
            try stack.perform(author: "desk", synchronous: { try $0.create(ToDo.self).title = "Ink" })
            return !printed.isEmpty
        }
        #expect(printed[0] == #"["desk"] 1 false"#)
        following.cancel()
    }
}
#endif

#if Macros
import Foundation
import Polystore
import PolystoreMacros
import PolystoreSQLite
import Testing

/// The samples of "Getting Started".
@Suite(.scratch) struct GettingStartedSamples {

    @Model final class Note: ManagedObject {
        var text: String = ""
        var created: Date = .now
        var isDone: Bool = false
        @Relationship(inverse: \Tag.notes) var tags: Set<Tag>
    }

    @Model final class Tag: ManagedObject {
        @Attribute(.unique) var name: String = ""
        @Relationship var notes: Set<Note>
    }

    @Test func theProgramRuns() async throws {

        let stack = try DataStack(Note.self, Tag.self)
        try await stack.addStorage(SQLiteStore(path: scratch("notes.db")))
        try await stack.perform { transaction in
            let home = try transaction.fetchOrCreate(Tag.self, \.name == "home")
            for text in ["Buy tea", "Call Ann"] {
                let note = try transaction.create(Note.self)
                note.text = text
                note.tags = [home]
            }
        }
        let open = From<Note>().where(\.isDone == false).orderBy(.ascending(\.created))
        for note in try stack.fetchAll(open.prefetch(\.tags)) { print(note.text, note.tags.map(\.name)) }
        print(try stack.fetchCount(From<Note>().where((\Note.tags).any(\.name == "home"))), "at home")
        if let note = try stack.fetchOne(open) {
            let id = note.objectID
            try await stack.perform { transaction in try transaction.edit(id)?.text = "Buy green tea" }
        }
        #expect(try stack.fetchAll(open).map(\.text) == ["Buy green tea", "Call Ann"])
        let list = try stack.publishList(open)
        let following = Task {
            for await update in list.updates { print(update.snapshot.count, "open") }
        }
        try await Task.sleep(for: .seconds(1))
        try await eventually { printed.last == "2 open" }
        try await stack.perform { transaction in
            _ = try transaction.updateAll(open.where((\Note.text).contains("tea")), .set(\.isDone, to: true))
        }
        try await Task.sleep(for: .seconds(1))
        try await eventually { printed.last == "1 open" }
        following.cancel()
        #expect(printed.prefix(3) == [#"Buy tea ["home"]"#, #"Call Ann ["home"]"#, "2 at home"])
    }
}
#endif

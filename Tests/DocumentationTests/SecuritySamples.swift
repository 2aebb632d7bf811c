#if Macros
import Polystore
import PolystoreMacros
import PolystoreSQLite
import Testing

/// The samples of "Security".
@Suite(.scratch) struct SecuritySamples {
    @Model final class Note: ManagedObject {
        var author: String = ""
    }

    private func stack() throws -> DataStack {
        let stack = try DataStack(Note.self)
        try stack.addStorageAndWait(SQLiteStore(path: scratch("notes.db")))
        try stack.perform(synchronous: { transaction in
            for name in ["Ann", "Bob"] { try transaction.create(Note.self).author = name }
        })
        return stack
    }

    @Test func valuesNeverBecomeSQL() throws {
        let stack = try stack()
        let name = "Robert'); DROP TABLE Note; --"
        let format = try stack.fetchCount(From<Note>().where(Where(format: "author == %@", name)))
        let rows = try stack.queryRows("SELECT count(*) AS n FROM \(table: Note.self) WHERE \(column: \Note.author) = \(name)")
        print(format, rows[0]["n"] == .int(0))  // 0 true
        #expect(printed == ["0 true"])
        #expect(try stack.fetchCount(From<Note>()) == 2)
    }

    @Test func passwordsAreNotShown() throws {
        let url = try StoreURL("postgresql://app:secret@db.example.org/shop")
        print(url.redacted)  // postgresql://app:***@db.example.org/shop
        #expect(printed == ["postgresql://app:***@db.example.org/shop"])
    }

    @Test func cursorsAreSigned() throws {
        let stack = try stack(), secret = [UInt8](repeating: 7, count: 32)
        stack.pageSecret = secret  // 32 random bytes or more
        let first = try stack.fetchPage(From<Note>().orderBy(.ascending(\.author)).limit(1))
        let cursor = first.next?.description ?? ""  // to the client and back
        let second = try stack.fetchPage(From<Note>().orderBy(.ascending(\.author)).limit(1), after: PageCursor(cursor))
        #expect(second.objects.map(\.author) == ["Bob"])
        let other = try self.stack()
        #expect(throws: StorageError.self) {
            try other.fetchPage(From<Note>().orderBy(.ascending(\.author)).limit(1), after: PageCursor(cursor))
        }
    }
}
#endif

#if Macros
import Polystore
import PolystoreInMemory
import PolystoreMacros
import Testing

/// The samples of "Relationships".
@Suite(.scratch) struct RelationshipsSamples {
    @Model final class Author: ManagedObject {
        var name: String = ""
        @Relationship(inverse: \Book.author, deleteRule: .cascade) var books: Set<Book>
    }

    @Model final class Book: ManagedObject {
        var title: String = ""
        @Relationship(required: true) var author: Author?
        @Relationship(inverse: \Chapter.book, deleteRule: .cascade, minCount: 1) var chapters: [Chapter]
        @Relationship(inverse: \Topic.books) var topics: Set<Topic>
    }

    @Model final class Chapter: ManagedObject {
        var title: String = ""
        @Relationship var book: Book?
    }

    @Model final class Topic: ManagedObject {
        @Attribute(.unique) var name: String = ""
        @Relationship(deleteRule: .deny) var books: Set<Book>
    }

    private func stack() throws -> DataStack {
        let stack = try DataStack(Author.self, Book.self, Chapter.self, Topic.self)
        try stack.addStorageAndWait(InMemoryStore())
        return stack
    }

    /// Ann has written about tea, in two chapters.
    private func filled() throws -> DataStack {
        let stack = try stack()
        try stack.perform(synchronous: { transaction in
            let author = try transaction.create(Author.self), book = try transaction.create(Book.self)
            (author.name, book.title, book.author) = ("Ann", "Tea", author)
            for title in ["Water", "Leaves"] {
                let chapter = try transaction.create(Chapter.self)
                chapter.title = title
                book.chapters.append(chapter)
            }
            book.topics = [try transaction.fetchOrCreate(Topic.self, \.name == "drinks")]
        })
        return stack
    }

    @Test func inversesFollow() async throws {
        let stack = try stack()
        let (books, isSame) = try await stack.perform { transaction in
            let author = try transaction.create(Author.self)
            let book = try transaction.create(Book.self)
            let chapter = try transaction.create(Chapter.self)
            book.author = author
            book.chapters = [chapter]
            return (author.books.count, chapter.book === book)
        }
        print(books, isSame)  // 1 true
        #expect(printed == ["1 true"])
        #expect(try stack.fetchOne(From<Chapter>())?.book?.author != nil)
    }

    @Test func aDeletionIsDenied() async throws {
        let stack = try filled()
        do {
            try await stack.perform { _ = try $0.deleteAll(From<Topic>()) }
        } catch {
            guard (error as? StorageError)?.code == .deleteDenied else { throw error }
            print("books have the topic")
        }
        #expect(printed == ["books have the topic"])
        try await stack.perform { _ = try $0.deleteAll(From<Author>()) }
        #expect(try stack.fetchCount(From<Chapter>()) == 0 && stack.fetchCount(From<Topic>()) == 1)
    }

    @Test func listsHaveAnOrder() throws {
        let stack = try filled(), book = try #require(try stack.fetchOne(From<Book>()))
        let chapters = try stack.fetchAll(From<Chapter>().where(\.book?.title == "Tea").orderBy(.ascending(\.title)))
        print(chapters.count, book.chapters.map(\.title))
        #expect(printed == [#"2 ["Water", "Leaves"]"#] && chapters.map(\.title) == ["Leaves", "Water"])
    }

    @Test func relationshipsArePrefetched() throws {
        let stack = try filled()
        stack.relationships = .strict
        let books = try stack.fetchAll(From<Book>().prefetch(\.author).prefetch(\.chapters))
        for book in books { print(book.author?.name ?? "", book.chapters.count) }
        let named = try stack.fetchAll(From<Book>().prefetch(named: ["author", "topics"]))
        #expect(printed == ["Ann 2"] && named[0].topics.map(\.name) == ["drinks"] && named[0].loadError == nil)
    }

    @Test func lookupsInLoopsAreFound() throws {
        let stack = try filled()
        stack.relationships = .strict
        let book = try stack.fetchOne(From<Book>())
        print(book?.author == nil, book?.loadError?.code == .unplannedLoad)  // true true
        #expect(printed == ["true true"])
        let error = #expect(throws: StorageError.self) {
            let author = try book?.load(\.author)
            _ = author
        }
        #expect(error?.code == .unplannedLoad)
    }
}
#endif

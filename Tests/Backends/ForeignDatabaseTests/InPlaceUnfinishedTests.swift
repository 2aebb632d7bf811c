import Foundation
import Polystore
import PolystoreStorage
import Testing

/// Objects that are not complete yet when the program fetches others.
@Suite struct InPlaceUnfinishedTests {
    private static let script = """
        CREATE TABLE country(id integer PRIMARY KEY, name varchar(40) NOT NULL);
        CREATE TABLE author(id integer PRIMARY KEY, name varchar(40) NOT NULL, country_id integer REFERENCES country(id));
        CREATE TABLE book(id integer PRIMARY KEY, title varchar(40) NOT NULL, year integer NOT NULL CHECK (year > 1400),
            author_id integer NOT NULL REFERENCES author(id));
        INSERT INTO country VALUES(1, 'Norway'); INSERT INTO author VALUES(1, 'Ann', 1); INSERT INTO book VALUES(1, 'A', 1900, 1);
        """

    @Test(arguments: InPlaceEngine.available) func aFetchMergesAnObjectThatTheDatabaseRefusesYet(_ engine: InPlaceEngine) throws {
        let database = try InPlaceDatabase(engine, Self.script), stack = try database.stack()
        try stack.perform(synchronous: { transaction in
            let book = try transaction.make("book", ["title": .string("B")])
            #expect(try transaction.fetchCount(From<DynamicObject>(entity: "country")) == 1)
            let titles = From<DynamicObject>(entity: "book").orderBy(.descending("title"))
            #expect(try transaction.fetchAll(titles).map { try $0.value("title") } == [.string("B"), .string("A")])
            #expect(try transaction.object("author", 1).objects("book").count == 1)
            let author = try transaction.object("author", 1)
            try book.setObject(author, for: "author")
            // The year is still missing.
            #expect(try author.objects("book").count == 2)
            #expect(try transaction.fetchCount(titles.where(Where(format: "author.name == 'Ann'"))) == 2)
            try book.setValue(.int(1950), for: "year")
            #expect(try transaction.fetchCount(titles.where(Where(format: "author.name == 'Ann'"))) == 2)
        })
        #expect(try database.sql("SELECT id, title, year, author_id FROM book ORDER BY id") == ["1|A|1900|1", "2|B|1950|1"])
    }

    @Test(arguments: InPlaceEngine.available) func whatTheStoreDoesItselfNamesTheUnfinishedObject(_ engine: InPlaceEngine) throws {
        let database = try InPlaceDatabase(engine, Self.script), stack = try database.stack()
        let names = From<DynamicObject>(entity: "author")
        try stack.perform(synchronous: { transaction in
            let book = try transaction.make("book", ["title": .string("B"), "year": .int(1950)])
            let refused = failure { _ = try transaction.queryRows("SELECT 1 AS one") }
            #expect(refused?.code == .validationFailed)
            #expect(refused?.message.hasSuffix("assign the value before it, or create the object after it") == true)
            let author = try #require(try transaction.fetchOne(names))
            try book.setObject(author, for: "author")
            #expect(try transaction.queryRows("SELECT 1 AS one").count == 1)
        })
        let refused = failure {
            try stack.perform(synchronous: { transaction in
                _ = try transaction.make("book", ["title": .string("C"), "year": .int(1950)])
                _ = try transaction.fetchAll(names)
            })
        }
        #expect(refused?.code == .validationFailed)
        #expect(try database.sql("SELECT count(*) FROM book") == ["2"])
    }
}

import Foundation
import PolystoreCatalog
import PolystoreInMemory
import PolystoreStorage
import PolystoreTransfer
import TestStores
import Testing

/// Transfers to tables as a person would declare them in SQL.
@Suite struct PlainTableTests {
    /// An engine with tables.
    enum Engine: String, CaseIterable, Sendable {
        case sqlite, postgresql

        static var all: [Engine] { allCases.filter { $0 == .sqlite || TestStore.server != nil } }
    }

    /// A place without tables.
    struct Place {
        let engine: Engine
        /// The URL of the target, and of the database of another program.
        let url: String, foreignURL: String
        private let name: String

        init(_ engine: Engine) {
            self.engine = engine
            switch engine {
            case .sqlite:
                name = ForeignDatabases.path(".db")
                url = "sqlite:\(name)"
                foreignURL = "\(url)?catalog=foreign"
            case .postgresql:
                name = "plain_" + UUID().uuidString.lowercased().replacing("-", with: "")
                let server = TestStore.server ?? ""
                url = "\(server)\(server.contains("?") ? "&" : "?")x-schema=\(name)"
                foreignURL = "\(url)&x-catalog=foreign"
            }
        }

        func store() throws -> any StorageInterface { try StoreCatalog.standard.store(at: try StoreURL(url)) }

        /// What the tool of the engine prints for a statement.
        func sql(_ statement: String) throws -> String {
            let text =
                switch engine {
                case .sqlite: try ForeignDatabases.run("sqlite3", ["-bail", name], "PRAGMA foreign_keys = ON;\n\(statement);\n")
                case .postgresql:
                    try ForeignDatabases.run(
                        "psql", ["-X", "-A", "-t", "-q", "-v", "ON_ERROR_STOP=1", "-d", TestStore.server ?? ""],
                        "SET search_path = \(name); SET TimeZone = 'UTC';\n\(statement);\n")
                }
            return text.trimmingCharacters(in: .whitespacesAndNewlines)
        }

        /// The names of the tables.
        func tables() throws -> String {
            switch engine {
            case .sqlite:
                guard FileManager.default.fileExists(atPath: name) else { return "" }
                return try sql("SELECT group_concat(name) FROM (SELECT name FROM sqlite_master WHERE type = 'table' ORDER BY name)")
            case .postgresql:
                return try sql(
                    "SELECT string_agg(relname, ',' ORDER BY relname COLLATE \"C\") FROM pg_class "
                        + "WHERE relkind = 'r' AND relnamespace = to_regnamespace('\(name)')")
            }
        }

        func remove() {
            switch engine {
            case .sqlite: try? FileManager.default.removeItem(atPath: name)
            case .postgresql: ForeignDatabases.drop(name)
            }
        }
    }

    // MARK: A source

    private static let day: Int64 = 86_400_000_000

    private static let shop: [Entity] = [
        Entity(
            "Author",
            attributes: [
                Attribute("name", .string, rules: AttributeRules(minLength: 1, maxLength: 80)),
                Attribute("born", .date, isOptional: true),
            ],
            relationships: [
                Relationship("books", to: "Book", .toMany, inverse: "author", deleteRule: .cascade),
                Relationship("mentor", to: "Author", inverse: "pupils"),
                Relationship("pupils", to: "Author", .toMany, inverse: "mentor"),
                Relationship("desk", to: "Desk", inverse: "author"),
            ], uniqueConstraints: [UniqueConstraint(["name"])]),
        Entity(
            "Book",
            attributes: [
                Attribute("title", .string, defaultValue: .string("it's new")),
                Attribute("state", .string, defaultValue: .string("open"), allowedValues: [.string("open"), .string("sold")]),
                Attribute(
                    "pages", .int32, isOptional: true, rules: AttributeRules(minimum: .int(1), maximum: .int(9_999))),
                Attribute("price", .decimal, isOptional: true),
                Attribute("rating", .double, isOptional: true),
                Attribute("isNew", .bool, defaultValue: .bool(true)),
                Attribute("cover", .data, isOptional: true),
                Attribute("code", .uuid, isOptional: true),
                Attribute("page", .url, isOptional: true),
                Attribute("level", .int16, isOptional: true),
                Attribute("weight", .float, isOptional: true),
                Attribute("bought", .date, isOptional: true),
                Attribute("stock", .int64, defaultValue: .int(0)),
            ],
            relationships: [
                Relationship("author", to: "Author", isOptional: false, inverse: "books"),
                Relationship("tags", to: "Tag", .toMany, inverse: "books"),
            ], indexes: [Index(["state", "pages"])]),
        Entity(
            "Desk", attributes: [Attribute("number", .int64)],
            relationships: [Relationship("author", to: "Author", inverse: "desk", deleteRule: .deny)]),
        Entity(
            "Tag", attributes: [Attribute("word", .string)],
            relationships: [Relationship("books", to: "Book", .toMany, inverse: "tags")]),
    ]

    /// A store in memory with lines of an archive: `{"entity": …}` and `{"link": …}`.
    private static func source(_ entities: [Entity], _ rows: [(String, Int64, [String: Value])], links: [String: [LinkPair]] = [:]) throws
        -> OpenStore
    {
        let schema = try Schema(entities: entities)
        let store = try OpenStore(opening: InMemoryStore(), OpenRequest(schema: schema))
        let writer = try store.beginWrite()
        defer { writer.end() }
        for (name, key, values) in rows {
            let entity = try #require(schema.index(of: name)), slots = schema[entity].slots
            let batch = RowBatch(capacity: 1)
            let cells = slots.map { batch.cell(for: values[$0.name] ?? .null) }
            let row = batch.appendRow(key: key, version: 1, entity: entity, slots: slots.count)
            for slot in slots.indices { row[slot] = cells[slot] }
            try writer.load(schema[entity].root, batch)
        }
        for (name, pairs) in links {
            let link = try #require(schema.links.firstIndex { $0.name == name })
            try writer.load(link: link, pairs)
        }
        _ = try writer.commit(CommitRecord())
        return store
    }

    private static func shopSource(price: String = "12.5") throws -> OpenStore {
        let id = try #require(UUID(uuidString: "01234567-89AB-CDEF-0123-456789ABCDEF")), price = try #require(Decimal(string: price))
        let link = try #require(try Schema(entities: shop).links.first).name
        let isOwner = link == "Book.tags"
        let pairs: [(book: Int64, tag: Int64)] = [(1, 1), (1, 2), (3, 2)]
        return try source(
            shop,
            [
                ("Author", 1, ["name": .string("Ada"), "born": .date(-56_540 * day), "desk": .int(5)]),
                ("Author", 2, ["name": .string("Émile"), "mentor": .int(1)]),
                (
                    "Book", 1,
                    [
                        "title": .string("One"), "state": .string("open"), "pages": .int(100), "price": .decimal(price),
                        "rating": .double(0.1), "isNew": .bool(true), "cover": .data(Data([0, 255])), "code": .uuid(id),
                        "page": .string("https://example.org/?a=1"), "level": .int(-3), "weight": .double(Double(Float(0.3))),
                        "bought": .date(18_262 * day + 123_456), "stock": .int(1 << 60), "author": .int(1),
                    ]
                ),
                (
                    "Book", 3,
                    [
                        "title": .string("12"), "state": .string("sold"), "isNew": .bool(false), "stock": .int(0), "author": .int(2),
                        "cover": .data(Data()), "bought": .date(0), "rating": .double(3),
                    ]
                ),
                ("Desk", 5, ["number": .int(7), "author": .int(1)]),
                ("Tag", 1, ["word": .string("a")]), ("Tag", 2, ["word": .string("b")]),
            ],
            links: [
                link: pairs.map { isOwner ? LinkPair(owner: $0.book, member: $0.tag) : LinkPair(owner: $0.tag, member: $0.book) }
            ])
    }

    // MARK: Facts

    @Test(arguments: Engine.all) func tablesAreReadAsTheSameObjects(_ engine: Engine) throws {
        let place = Place(engine)
        defer { place.remove() }
        let source = try Self.shopSource()
        let report = try TransferEngine().transferTables(from: source, to: place.store())
        #expect(report.isVerified && report.items.map(\.digest.count).sorted() == [1, 2, 2, 2, 3])

        let copy = try OpenDatabase(place.foreignURL)
        defer { copy.close() }
        #expect(copy.losses.isEmpty && copy.remarks.isEmpty, "\(copy.remarks)")
        #expect(copy.schema.entities.map(\.name) == ["Author", "Book", "Desk", "Tag"])
        let book = try #require(copy.schema.entity("Book"))
        #expect(book.attributes.map(\.name) == Self.shop[1].attributes.map(\.name))
        let types: [ValueType] =
            engine == .postgresql
            ? [.string, .string, .int32, .decimal, .double, .bool, .data, .uuid, .string, .int16, .float, .date, .int64]
            : [.string, .string, .int64, .decimal, .double, .bool, .data, .uuid, .string, .int64, .double, .date, .int64]
        #expect(book.attributes.map(\.type) == types)
        #expect(book.attributes.filter { !$0.isOptional }.map(\.name) == ["title", "state", "isNew", "stock"])
        #expect(book.attributes[1].allowedValues == [.string("open"), .string("sold")])
        #expect(book.attributes[2].rules == AttributeRules(minimum: .int(1), maximum: .int(9_999)))
        #expect(copy.schema.entity("Author")?.attributes[0].rules == AttributeRules(minLength: 1, maxLength: 80))
        #expect(
            copy.schema.relationshipLines.sorted() == [
                "Author.Author * Author.mentor nullify", "Author.Book * Book.author cascade", "Author.desk 1 Desk.Author nullify",
                "Author.mentor 1 Author.Author nullify", "Book.author 1 Author.Book nullify", "Book.tags * Tag.books nullify",
                "Desk.Author * Author.desk deny", "Tag.books * Book.tags nullify",
            ])
        #expect(copy.schema.entity("Author")?.uniqueConstraints.map(\.properties) == [["desk"], ["name"]])

        #expect(try copy.keys("Book", "author.name == 'Ada' AND ANY tags.word == 'b'") == [1])
        #expect(try copy.keys("Book", "price == DECIMAL '12.5' AND bought > DATE '2020-01-01T00:00:00Z'") == [1])
        #expect(try copy.keys("Book", "code == UUID '01234567-89AB-CDEF-0123-456789ABCDEF'") == [1])
        #expect(try copy.keys("Book", "title == '12' AND bought == DATE '1970-01-01T00:00:00Z' AND isNew == false") == [3])
    }

    @Test(arguments: Engine.all) func otherProgramsSeeOrdinaryTables(_ engine: Engine) throws {
        let place = Place(engine)
        defer { place.remove() }
        _ = try TransferEngine().transferTables(from: Self.shopSource(), to: place.store())
        #expect(try place.tables() == "Author,Book,Book_tags,Desk,Tag" || place.tables() == "Author,Book,Desk,Tag,Tag_books")
        let row = try place.sql(
            "SELECT \"id\", \"title\", \"price\", \"rating\", \"isNew\", \"author_id\", \"code\", \"bought\" FROM \"Book\" WHERE \"id\" = 1"
        )
        #expect(
            row
                == (engine == .sqlite
                    ? "1|One|12.5|0.1|1|1|01234567-89ab-cdef-0123-456789abcdef|2020-01-01 00:00:00.123456"
                    : "1|One|12.5|0.1|t|1|01234567-89ab-cdef-0123-456789abcdef|2020-01-01 00:00:00.123456+00"))
        // Defaults and the next key.
        let new = try place.sql(
            "INSERT INTO \"Book\" (\"author_id\") VALUES (2); SELECT \"id\", \"title\", \"state\", \"stock\" FROM \"Book\" WHERE \"id\" > 3"
        )
        #expect(new == "4|it's new|open|0")
        for wrong in [
            "INSERT INTO \"Book\" (\"title\") VALUES ('without an author')", "INSERT INTO \"Book\" (\"author_id\") VALUES (99)",
            "UPDATE \"Book\" SET \"state\" = 'lost'", "UPDATE \"Book\" SET \"pages\" = 0", "UPDATE \"Author\" SET \"name\" = ''",
            "UPDATE \"Author\" SET \"name\" = 'Ada' WHERE \"id\" = 2", "UPDATE \"Author\" SET \"desk_id\" = 5 WHERE \"id\" = 2",
            "DELETE FROM \"Desk\"",
        ] {
            #expect(throws: (any Error).self, "\(wrong)") { try place.sql(wrong) }
        }
        // Deleting an author deletes the books, and a mentor is forgotten.
        let left = try place.sql(
            "DELETE FROM \"Author\" WHERE \"id\" = 1; SELECT (SELECT count(*) FROM \"Book\"), (SELECT count(*) FROM \"Author\" "
                + "WHERE \"mentor_id\" IS NULL)")
        #expect(left == "2|1")
        let indexed =
            engine == .sqlite
            ? "SELECT count(*) FROM sqlite_master WHERE type = 'index' AND tbl_name = 'Book' AND sql IS NOT NULL"
            : "SELECT count(*) FROM pg_indexes WHERE tablename = 'Book' AND schemaname = current_schema() AND indexdef NOT LIKE '%UNIQUE%'"
        #expect(try place.sql(indexed) == "2")
    }

    @Test(arguments: Engine.all) func existingTablesAreRefusedAndOthersRemain(_ engine: Engine) throws {
        let place = Place(engine)
        defer { place.remove() }
        if engine == .postgresql { _ = try place.sql("CREATE SCHEMA IF NOT EXISTS \(place.url.suffix(38))") }
        _ = try place.sql("CREATE TABLE other(n integer primary key); INSERT INTO other VALUES (7)")
        _ = try TransferEngine().transferTables(from: Self.shopSource(), to: place.store())
        #expect(try place.sql("SELECT n FROM other") == "7")
        let error = failure { _ = try TransferEngine().transferTables(from: Self.shopSource(), to: place.store()) }
        #expect(error?.code == .alreadyExists && error?.message.contains("already contains \"Author\"") == true)
        var merging = TransferOptions()
        merging.existing = .merge
        let refused = failure { _ = try TransferEngine().transferTables(from: Self.shopSource(), to: place.store(), merging) }
        #expect(refused?.code == .invalidConfiguration)
    }

    @Test(arguments: Engine.all) func aStoreOfPolystoreIsRefused(_ engine: Engine) throws {
        let place = Place(engine)
        defer { place.remove() }
        let own = try OpenDatabase(place.store(), try Schema(entities: [Entity("Note", attributes: [Attribute("text", .string)])]))
        own.close()
        let error = failure { _ = try TransferEngine().transferTables(from: Self.shopSource(), to: place.store()) }
        #expect(error?.code == .alreadyExists && error?.message.contains("is a Polystore store") == true, "\(String(describing: error))")
    }

    @Test func aStoreWithoutTablesIsRefused() throws {
        let error = failure { _ = try TransferEngine().transferTables(from: Self.shopSource(), to: InMemoryStore()) }
        #expect(error?.code == .unsupported && error?.message.contains("memory") == true)
    }

    /// 0.1234567890123456789 has more digits than a number of SQLite.
    @Test func decimalsBeyondSQLiteAreNamedAndAccepted() throws {
        let place = Place(.sqlite), source = try Self.shopSource(price: "0.1234567890123456789")
        defer { place.remove() }
        let error = failure { _ = try TransferEngine().transferTables(from: source, to: place.store()) }
        #expect(error?.code == .dataLossRefused && error?.message.contains("--accept-loss 'Book.price'") == true)
        #expect(error?.details.keys == [1])
        #expect(try place.tables() == "")
        var options = TransferOptions()
        options.acceptedLosses = ["Book.price"]
        #expect(try TransferEngine().transferTables(from: source, to: place.store(), options).isVerified)
        #expect(try place.sql("SELECT \"price\" FROM \"Book\" WHERE \"id\" = 1") == "0.123456789012346")
    }

    @Test(.enabled(if: TestStore.server != nil)) func decimalsAreExactInPostgreSQL() throws {
        let place = Place(.postgresql), source = try Self.shopSource(price: "0.1234567890123456789")
        defer { place.remove() }
        #expect(try TransferEngine().transferTables(from: source, to: place.store()).isVerified)
        #expect(try place.sql("SELECT price FROM \"Book\" WHERE id = 1") == "0.1234567890123456789")
    }

    @Test(arguments: Engine.all) func anOrderIsRefusedUnlessItsLossIsAccepted(_ engine: Engine) throws {
        let place = Place(engine)
        defer { place.remove() }
        let source = try Self.source(
            [
                Entity(
                    "List", attributes: [Attribute("name", .string)],
                    relationships: [
                        Relationship("items", to: "Item", .toManyOrdered, inverse: "list"),
                        Relationship("others", to: "Item", .toManyOrdered),
                    ]),
                Entity(
                    "Item", attributes: [Attribute("n", .int64)], relationships: [Relationship("list", to: "List", inverse: "items")]),
            ],
            [
                ("List", 1, ["name": .string("l")]), ("Item", 1, ["n": .int(1), "list": .int(1)]),
                ("Item", 2, ["n": .int(2), "list": .int(1)]),
            ],
            links: [
                "List.items": [LinkPair(owner: 1, rank: 10, member: 2), LinkPair(owner: 1, rank: 20, member: 1)],
                "List.others": [LinkPair(owner: 1, rank: 10, member: 2)],
            ])
        let plan = try TransferEngine().planTables(from: source, to: place.store())
        #expect(plan.refusals.count == 2 && plan.refusals.allSatisfy { $0.contains("the order of List.") }, "\(plan.refusals)")
        #expect(failure { _ = try TransferEngine().transferTables(from: source, to: place.store()) }?.code == .dataLossRefused)
        #expect(try place.tables() == "")
        var options = TransferOptions()
        options.acceptedLosses = ["List.items", "List.others"]
        _ = try TransferEngine().transferTables(from: source, to: place.store(), options)
        #expect(try place.sql("SELECT count(*) FROM \"Item\" WHERE \"list_id\" = 1") == "2")
        #expect(try place.sql("SELECT \"List_id\", \"others_id\" FROM \"List_others\"") == "1|2")
    }

    @Test(arguments: Engine.all) func eachEntityOfAHierarchyHasATable(_ engine: Engine) throws {
        let place = Place(engine)
        defer { place.remove() }
        func entities(to destination: String) -> [Entity] {
            [
                Entity("Media", isAbstract: true, attributes: [Attribute("title", .string)]),
                Entity("Film", parent: "Media", attributes: [Attribute("minutes", .int64)]),
                Entity("Song", parent: "Media", attributes: [Attribute("id", .string)]),
                Entity("Note", attributes: [Attribute("text", .string)], relationships: [Relationship("on", to: destination)]),
            ]
        }
        let rows: [(String, Int64, [String: Value])] = [
            ("Film", 1, ["title": .string("f"), "minutes": .int(90)]), ("Song", 2, ["title": .string("s"), "id": .string("x")]),
            ("Note", 1, ["text": .string("n"), "on": .int(1)]),
        ]
        let refused = failure {
            _ = try TransferEngine().transferTables(from: Self.source(entities(to: "Media"), rows), to: place.store())
        }
        #expect(refused?.code == .unsupported && refused?.message.contains("Note.on refers to objects of several entities") == true)
        #expect(try place.tables() == "")
        let report = try TransferEngine().transferTables(from: Self.source(entities(to: "Film"), rows), to: place.store())
        #expect(report.items.map(\.name) == ["Media", "Note"] && report.items.map(\.digest.count) == [2, 1])
        #expect(try place.tables() == "Film,Note,Song")
        // The attribute takes the usual name of the key.
        #expect(try place.sql("SELECT \"_id\", \"title\", \"id\" FROM \"Song\"") == "2|s|x")
    }

    @Test(arguments: Engine.all) func namesThatTheEngineConfusesAreRefused(_ engine: Engine) throws {
        let place = Place(engine)
        defer { place.remove() }
        let long = String(repeating: "n", count: 64)
        let source = try Self.source(
            [
                Entity("Select", attributes: [Attribute("order", .string), Attribute("Order", .string), Attribute(long, .string)]),
                Entity("Other", attributes: [Attribute("by_id", .int64)], relationships: [Relationship("by", to: "Select")]),
            ], [])
        let plan = try TransferEngine().planTables(from: source, to: place.store())
        let expected =
            engine == .sqlite
            ? [
                "Other.by_id and Other.by would have columns with the same name, by_id; rename one of them",
                "Select.order and Select.Order would have columns with the same name, Order; rename one of them",
            ]
            : [
                "Other.by_id and Other.by would have columns with the same name, by_id; rename one of them",
                "the name \(long) of the column for Select.\(long) is longer than 63 bytes",
            ]
        #expect(plan.refusals.count == 2 && plan.refusals.first == expected[0], "\(plan.refusals)")
        #expect(plan.refusals.last?.prefix(40) == expected[1].prefix(40))
    }

    @Test(arguments: Engine.all) func theTwoColumnsOfATableOfPairsHaveTwoNames(_ engine: Engine) throws {
        let place = Place(engine)
        defer { place.remove() }
        let source = try Self.source(
            [
                Entity("owner", relationships: [Relationship("owner", to: "owner", .toMany)]),
                Entity("Place", relationships: [Relationship("pals", to: "Place", .toMany, inverse: "pals")]),
            ], [])
        let plan = try TransferEngine().planTables(from: source, to: place.store())
        #expect(plan.refusals.isEmpty && plan.notes.contains { $0.hasPrefix("Place.pals is its own inverse") }, "\(plan)")
        _ = try TransferEngine().transferTables(from: source, to: place.store())
        #expect(try place.sql("SELECT \"owner_id\", \"source_id\" FROM \"owner_owner\"") == "")
        let long = String(repeating: "n", count: 62)
        let pairs = try Self.source(
            [
                Entity("A", relationships: [Relationship("r", to: "B", .toMany, inverse: long)]),
                Entity("B", relationships: [Relationship(long, to: "A", .toMany, inverse: "r")]),
            ], [])
        let refusals = try TransferEngine().planTables(from: pairs, to: place.store()).refusals
        #expect(refusals.isEmpty == (engine == .sqlite), "\(refusals)")
    }

    @Test func aRefusedSelectionIsPartOfThePlan() throws {
        let place = Place(.sqlite)
        defer { place.remove() }
        let source = try Self.source([Entity("A", attributes: [Attribute("x", .int64)])], [])
        var options = TransferOptions()
        options.selection.only = ["B"]
        let plan = try TransferEngine().planTables(from: source, to: place.store(), options)
        #expect(plan.refusals.count == 1 && !plan.statements.isEmpty, "\(plan)")
    }

    @Test(arguments: Engine.all) func theStatementsOfAPlanMakeTheTables(_ engine: Engine) throws {
        let place = Place(engine)
        defer { place.remove() }
        let plan = try TransferEngine().planTables(from: Self.shopSource(), to: place.store())
        #expect(plan.refusals.isEmpty && plan.notes.isEmpty, "\(plan)")
        #expect(try place.tables() == "")
        _ = try place.sql(plan.statements.joined(separator: ";\n"))
        #expect(try place.tables().split(separator: ",").count == 5)
        let author = plan.statements.first { $0.contains("CREATE TABLE \"Author\"") }
        let sqlite = """
            CREATE TABLE "Author" (
                "id" INTEGER PRIMARY KEY,
                "name" TEXT NOT NULL CHECK (length("name") >= 1) CHECK (length("name") <= 80),
                "born" DATETIME,
                "mentor_id" INTEGER REFERENCES "Author" ("id") ON DELETE SET NULL,
                "desk_id" INTEGER REFERENCES "Desk" ("id") ON DELETE RESTRICT,
                UNIQUE ("desk_id"),
                UNIQUE ("name")
            )
            """
        let server = """
            CREATE TABLE "Author" (
                "id" bigint GENERATED BY DEFAULT AS IDENTITY PRIMARY KEY,
                "name" text NOT NULL CHECK (length("name") >= 1) CHECK (length("name") <= 80),
                "born" timestamptz,
                "mentor_id" bigint,
                "desk_id" bigint
            )
            """
        #expect(author == (engine == .sqlite ? sqlite : server), "\(author ?? "")")
    }

    @Test(arguments: Engine.all) func rowsThatViolateARuleLeaveNothing(_ engine: Engine) throws {
        let place = Place(engine)
        defer { place.remove() }
        let source = try Self.source(
            [Entity("Note", attributes: [Attribute("n", .int64, rules: AttributeRules(maximum: .int(9)))])],
            [("Note", 1, ["n": .int(1)]), ("Note", 2, ["n": .int(10)])])
        let error = failure { _ = try TransferEngine().transferTables(from: source, to: place.store()) }
        #expect(error?.code == .validationFailed, "\(String(describing: error))")
        #expect(try place.tables() == "")
        let oneSided = try Self.source(
            Self.shop, [("Author", 1, ["name": .string("Ada")]), ("Desk", 5, ["number": .int(7), "author": .int(1)])])
        let sides = failure { _ = try TransferEngine().transferTables(from: oneSided, to: place.store()) }
        #expect(sides?.code == .corrupted && sides?.message.contains("Author.desk disagree") == true)
        #expect(try place.tables() == "")
        let dangling = try Self.source(
            [Entity("Note", attributes: [Attribute("n", .int64)], relationships: [Relationship("next", to: "Note")])],
            [("Note", 1, ["n": .int(1), "next": .int(9)])])
        #expect(failure { _ = try TransferEngine().transferTables(from: dangling, to: place.store()) } != nil)
        #expect(try place.tables() == "")
    }

    @Test(arguments: Engine.all) func aPartIsCopied(_ engine: Engine) throws {
        let place = Place(engine)
        defer { place.remove() }
        var options = TransferOptions()
        options.selection.conditions = ["Book": try QueryPredicate(parsing: "title == 'One'")]
        let report = try TransferEngine().transferTables(from: Self.shopSource(), to: place.store(), options)
        // The other book has an author and a tag that are copied.
        #expect(report.isVerified && report.omittedMembers["Author.books"] == 1 && report.omittedMembers.values.reduce(0, +) == 2)
        #expect(try place.sql("SELECT count(*) FROM \"Book\"") == "1")
    }

    /// More rows than one batch, in transactions of which nothing remains after an interruption.
    @Test(arguments: Engine.all) func anInterruptionLeavesNothing(_ engine: Engine) throws {
        let place = Place(engine)
        defer { place.remove() }
        let source = try Self.source(
            [Entity("Note", attributes: [Attribute("n", .int64)])], (1...20_000).map { ("Note", $0, ["n": .int($0)]) })
        let limit = WorkLimit()
        let error = failure {
            _ = try TransferEngine(limit: limit).transferTables(from: source, to: place.store()) {
                if $0.allDone > 8_000 { limit.cancel() }
            }
        }
        #expect(error?.code == .cancelled)
        #expect(try place.tables() == "")
        _ = try TransferEngine().transferTables(from: source, to: place.store())
        #expect(try place.sql("SELECT count(*), sum(\"n\") FROM \"Note\"") == "20000|200010000")
    }
}

import Foundation
import PolystoreCompatibility
import Testing

// A program in CoreStore's spelling: with `import CoreStore` in place of `import PolystoreCompatibility` it is one of CoreStore, to whose
// compiler a superfluous `try` is a warning. The last type runs it.

enum LibraryV1 {
    class Author: CoreStoreObject {
        @Field.Stored("name") var name: String = ""
        @Field.Relationship("books", inverse: \.$author, deleteRule: .cascade) var books: Set<Book>
    }

    class Book: CoreStoreObject {
        @Field.Stored("isbn") var isbn: String = ""
        @Field.Stored("title") var title: String = ""
        @Field.Stored("year") var year: Int = 0
        @Field.Relationship("author") var author: Author?
    }

    static func schema() throws -> CoreStoreSchema {
        try CoreStoreSchema(modelVersion: "LibraryV1", entities: [Entity<Author>("Author"), Entity<Book>("Book")])
    }
}

enum LibraryV2 {
    class Author: CoreStoreObject {
        @Field.Stored("name") var name: String = ""
        @Field.Relationship("books", inverse: \.$author, deleteRule: .cascade) var books: Set<Book>
    }

    class Book: CoreStoreObject, ImportableUniqueObject {
        @Field.Stored("isbn") var isbn: String = ""
        @Field.Stored("title") var title: String = ""
        @Field.Stored("year") var year: Int = 0
        @Field.Stored("era") var era: String?
        @Field.Relationship("author") var author: Author?

        typealias ImportSource = [String: Any]
        typealias UniqueIDType = String

        static var uniqueIDKeyPath: String { "isbn" }

        var uniqueIDValue: String {
            get { self.isbn }
            set { self.isbn = newValue }
        }

        static func uniqueID(from source: ImportSource, in transaction: BaseDataTransaction) throws -> String? {
            source["isbn"] as? String
        }

        func update(from source: ImportSource, in transaction: BaseDataTransaction) throws {
            self.title = source["title"] as? String ?? ""
            self.year = source["year"] as? Int ?? 0
            self.era = Library.era(of: self.year)
            if let name = source["author"] as? String {
                let known = try transaction.fetchOne(From<Author>(), Where("name == %@", name))
                self.author = try known ?? transaction.create(Into<Author>())
                self.author?.name = name
            }
        }
    }

    static func schema() throws -> CoreStoreSchema {
        try CoreStoreSchema(modelVersion: "LibraryV2", entities: [Entity<Author>("Author"), Entity<Book>("Book")])
    }
}

typealias Author = LibraryV2.Author
typealias Book = LibraryV2.Book

enum Library {
    static func era(of year: Int) -> String { year < 1900 ? "old" : "new" }

    static func fillFirstVersion(at url: URL) throws {
        let dataStack = try DataStack(LibraryV1.schema())
        try dataStack.addStorageAndWait(SQLiteStore(fileURL: url))
        try dataStack.perform(synchronous: { (transaction) -> Void in
            let author = try transaction.create(Into<LibraryV1.Author>())
            author.name = "Jane Austen"
            for (isbn, title, year) in [("1", "Emma", 1815), ("2", "Persuasion", 1817)] {
                let book = try transaction.create(Into<LibraryV1.Book>())
                book.isbn = isbn
                book.title = title
                book.year = year
                book.author = author
            }
        })
        try dataStack.unsafeRemoveAllPersistentStoresAndWait()
    }

    static func makeStack() throws -> DataStack {
        try DataStack(
            schemaHistory: SchemaHistory(
                allSchema: [LibraryV1.schema(), LibraryV2.schema()],
                migrationChain: ["LibraryV1", "LibraryV2"]
            )
        )
    }

    static func makeStore(at url: URL) -> SQLiteStore {
        SQLiteStore(
            fileURL: url,
            migrationMappingProviders: [
                CustomSchemaMappingProvider(
                    from: "LibraryV1",
                    to: "LibraryV2",
                    entityMappings: [
                        .transformEntity(
                            sourceEntity: "Book",
                            destinationEntity: "Book",
                            transformer: { (sourceObject, createDestinationObject) in
                                let destinationObject = createDestinationObject()
                                destinationObject.enumerateAttributes { (attribute, sourceAttribute) in
                                    if let sourceAttribute = sourceAttribute {
                                        destinationObject[attribute] = sourceObject[sourceAttribute]
                                    }
                                }
                                destinationObject["era"] = era(of: sourceObject["year"] as! Int)
                            }
                        )
                    ]
                )
            ],
            localStorageOptions: .none
        )
    }
}

@MainActor
final class ShelfController: @MainActor ListSectionObserver {
    typealias ListEntityType = Book

    let monitor: ListMonitor<Book>
    private(set) var log: [String] = []

    init(dataStack: DataStack) throws {
        self.monitor = try dataStack.monitorSectionedList(
            From<Book>()
                .sectionBy("era", sectionIndexTransformer: { $0?.uppercased() })
                .where("year > %d", 1800)
                .orderBy(.ascending("era"), .ascending("title"))
        )
        self.monitor.addObserver(self)
    }

    func listMonitorDidChange(_ monitor: ListMonitor<Book>) {
        self.log.append("\(monitor.numberOfObjects()) books")
    }

    func listMonitorDidRefetch(_ monitor: ListMonitor<Book>) {
        self.log.append("refetched")
    }

    func listMonitor(
        _ monitor: ListMonitor<Book>, didInsertObject object: Book, toIndexPath indexPath: IndexPath, sourceIdentifier: Any?
    ) {
        self.log.append("\(object.title) in \(indexPath[0]) by \(sourceIdentifier as? String ?? "nobody")")
    }
}

@MainActor
enum LibraryProgram {
    static func importBooks(_ json: [[String: Any]], into dataStack: DataStack) throws {
        _ = try dataStack.perform(
            synchronous: { transaction in
                try transaction.importUniqueObjects(Into<Book>(), sourceArray: json)
            },
            sourceIdentifier: "import"
        )
    }

    static func run(at url: URL) async throws -> [String] {
        try Library.fillFirstVersion(at: url)
        let dataStack = try Library.makeStack(), storage = Library.makeStore(at: url)
        var output = ["\(try dataStack.requiredMigrationsForStorage(storage).count) migration"]
        _ = try await dataStack.async.addStorage(storage)
        CoreStoreDefaults.dataStack = dataStack
        defer { CoreStoreDefaults.dataStack = .withoutEntities }

        let controller = try ShelfController(dataStack: dataStack)
        output.append("\(controller.monitor.numberOfSections()) section, \(controller.monitor[0, 1].title)")

        try importBooks(
            [
                ["isbn": "2", "title": "Persuasion, annotated", "year": 1817],
                ["isbn": "3", "title": "Orlando", "year": 1928, "author": "Virginia Woolf"],
                ["isbn": "4", "title": "The Waves", "year": 1931, "author": "Virginia Woolf"],
            ],
            into: dataStack
        )
        for _ in 0..<500 where controller.log.count < 3 { try await Task.sleep(for: .milliseconds(10)) }
        output += controller.log
        output.append(controller.monitor.sectionIndexTitles().joined(separator: " "))

        let woolf = try dataStack.fetchOne(From<Author>(), Where("name", isEqualTo: "Virginia Woolf"))
        output.append("\(try dataStack.fetchCount(From<Book>(), Where("author", isEqualTo: woolf))) by Woolf")
        let newest: Int? = try dataStack.queryValue(From<Book>(), Select(.maximum("year")), Where("era == %@", "old"))
        output.append("newest of the old: \(newest ?? 0)")
        let years = try dataStack.queryAttributes(From<Book>(), Select("era", .count("isbn")), GroupBy("era"), OrderBy(.ascending("era")))
        output.append(years.map { "\($0["era"] ?? "") \($0["count(isbn)"] ?? 0)" }.joined(separator: ", "))

        let deleted: String = await withCheckedContinuation { continuation in
            dataStack.perform(
                asynchronous: { (transaction) -> Int in
                    try transaction.delete(transaction.fetchOne(From<Author>(), Where("name", isEqualTo: "Virginia Woolf")), nil)
                    return try transaction.fetchCount(From<Book>())
                },
                success: { (count) in continuation.resume(returning: "\(count) books left") },
                failure: { (error: CoreStoreError) in continuation.resume(returning: "\(error)") }
            )
        }
        output.append(deleted)
        try dataStack.unsafeRemoveAllPersistentStoresAndWait()
        return output
    }
}

extension DefaultStackTests {
    @Suite struct LibraryProgramTests {
        @Test func aProgramOfCoreStoreRuns() async throws {
            let folder = FileManager.default.temporaryDirectory.appendingPathComponent("polystore-\(UUID().uuidString)")
            try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
            defer { try? FileManager.default.removeItem(at: folder) }
            let output = try await LibraryProgram.run(at: folder.appendingPathComponent("library.sqlite"))
            #expect(
                output == [
                    "1 migration", "1 section, Persuasion", "Orlando in 0 by import", "The Waves in 0 by import", "4 books", "NEW OLD",
                    "2 by Woolf", "newest of the old: 1817", "new 2, old 2", "2 books left",
                ])
        }
    }
}

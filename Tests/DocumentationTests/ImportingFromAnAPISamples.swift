#if Macros
import Foundation
import Polystore
import PolystoreMacros
import PolystoreSQLite
import Testing

struct ArticleRecord: Decodable, Sendable {
    var id: Int
    var title: String
    var author: String?
    var tags: [String]
}

@Model final class Article: ManagedObject {
    @Attribute(.unique) var number: Int = 0
    var title: String = ""
    var tags: [String] = []
    @Relationship(inverse: \Author.articles) var author: Author?
}

@Model final class Author: ManagedObject {
    @Attribute(.unique) var name: String = ""
    @Relationship var articles: Set<Article>
}

/// The samples of "Importing from an API".
@Suite(.scratch) struct ImportingFromAnAPISamples {
    private let json = Data(
        """
        [{"id": 7, "title": "Tea", "author": "Ann", "tags": ["food"]}, {"id": 8, "title": "Ink", "tags": []},
         {"id": 7, "title": "Green tea", "author": "Ann", "tags": ["food", "drink"]}]
        """.utf8)

    private func stack() throws -> DataStack {
        let stack = try DataStack(Article.self, Author.self)
        try stack.addStorageAndWait(SQLiteStore(path: scratch("news.db")))
        return stack
    }

    @Test func recordsBecomeObjectsOnce() async throws {
        let stack = try stack()
        for _ in 0..<2 {
            let records = try JSONDecoder().decode([ArticleRecord].self, from: json)
            let count = try await stack.perform(author: "sync") { transaction in
                try transaction.importUniqueObjects(Into<Article>(), sourceArray: records).count
            }
            print(count, "articles")
        }
        #expect(printed == ["2 articles", "2 articles"])
        let articles = try stack.fetchAll(From<Article>().orderBy(.ascending(\.number)))
        #expect(articles.map(\.title) == ["Green tea", "Ink"] && articles[0].tags == ["food", "drink"])
        #expect(articles[0].author?.articles.count == 1 && articles[1].author == nil)
        #expect(try stack.fetchCount(From<Author>()) == 1)
    }

    @Test func newObjectsAreKnown() async throws {
        let stack = try stack(), records = try JSONDecoder().decode([ArticleRecord].self, from: json)
        try await stack.perform { try $0.create(Article.self).number = 8 }
        let results = try await stack.perform { transaction in
            try transaction.upsertObjects(Into<Article>(), sourceArray: records).map { ($0.object.number, $0.isInserted) }
        }
        for (number, isNew) in results { print(number, isNew ? "new" : "known") }
        #expect(printed == ["7 new", "8 known"])
    }

    @Test func rowsAreUpserted() async throws {
        let stack = try stack(), records = try JSONDecoder().decode([ArticleRecord].self, from: json)
        try await stack.perform { transaction in
            let article = try transaction.create(Article.self)
            (article.number, article.tags) = (8, ["old"])
        }
        let upserted = try await stack.perform { transaction in
            try transaction.upsertAll(Into<Article>(), on: \.number, sources: records) { article, record in
                article.number = record.id
                article.title = record.title
            }
        }
        print(upserted.filter(\.isInserted).count, "new")
        #expect(printed == ["1 new"])
        #expect(try stack.fetchAll(From<Article>().orderBy(.ascending(\.number))).map(\.tags) == [[], ["old"]])
    }

    @Test func aRecordThatFailsIsReported() async throws {
        let stack = try stack()
        let records = try JSONDecoder().decode([ArticleRecord].self, from: json) + [ArticleRecord(id: 9, title: "", tags: [])]
        try await stack.perform { try $0.create(Author.self).name = "Ann" }
        let outcome = try await stack.perform { transaction in
            let results: [PersistenceResult] = try transaction.importPersistableObjects(records)
            return results.filter { if case .failed = $0 { true } else { false } }.count
        }
        print(outcome, "failed")
        #expect(printed == ["1 failed"])
        let articles = try stack.fetchAll(From<Article>().orderBy(.ascending(\.number)))
        #expect(articles.map(\.number) == [7, 8] && articles[0].author?.name == "Ann")
    }
}

extension Article: ImportableUniqueObject {
    typealias ImportSource = ArticleRecord
    static var uniqueIDKeyPath: String { "number" }
    var uniqueIDValue: Int {
        get { number }
        set { number = newValue }
    }

    static func uniqueID(from source: ArticleRecord, in transaction: BaseTransaction) throws -> Int? { source.id }

    func update(from source: ArticleRecord, in transaction: BaseTransaction) throws {
        title = source.title
        tags = source.tags
        author = try source.author.map { try transaction.fetchOrCreate(Author.self, \.name == $0) }
    }
}

extension ArticleRecord: Persistable {
    static func generateImporterData(objects: [ArticleRecord], context: BaseTransaction) throws -> [String: Author] {
        let names = objects.compactMap(\.author)
        let authors = try context.fetchAll(From<Author>().where((\Author.name).isIn(names)))
        return Dictionary(authors.map { ($0.name, $0) }) { first, _ in first }
    }

    func importIntoContext(_ context: BaseTransaction, importerData: inout [String: Author]) throws -> PersistenceResult {
        if title.isEmpty { throw CocoaError(.coderInvalidValue) }
        let known = try context.fetchOne(From<Article>().where(\.number == id))
        let article = try known ?? context.create(Article.self)
        article.number = id
        article.title = title
        if let name = author, importerData[name] == nil {
            importerData[name] = try context.fetchOrCreate(Author.self, \.name == name)
        }
        article.author = author.flatMap { importerData[$0] }
        return known == nil ? .insert(article.objectID) : .update(article.objectID)
    }
}
#endif

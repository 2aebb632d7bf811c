#if Macros
import PolystoreMacros
import TestStores
import Testing

@Model(indexes: [Index(["body"], kind: .fullText), Index(["stars", "title"], where: "isOpen == true")])
final class Article: ManagedObject {
    var title: String = ""
    var body: String?
    var stars: Int = 0
    var isOpen: Bool = true
}

/// Indexes that say more than `.indexed` does.
@Suite struct IndexTests {
    @Test func indexesAreDeclared() {
        let indexes = [Index(["body"], kind: .fullText), Index(["stars", "title"], where: "isOpen == true")]
        #expect(Article.declaration.indexes == indexes)
    }

    @Test(arguments: TestStore.all) func textsAreFoundByTheirWords(_ store: TestStore) throws {
        let stack = try DataStack(Article.self)
        try stack.addStorageAndWait(store.make())
        // A full-text index takes longer texts than another index does.
        let long = String(repeating: "lorem ipsum ", count: 1_000) + "Übermäßig"
        try stack.perform(synchronous: { transaction in
            for (number, body) in ["Swift & SQL", "swiftly", nil, "SQL by hand", long].enumerated() {
                let article = try transaction.create(Article.self)
                (article.body, article.stars, article.title, article.isOpen) = (body, number, "\(number)", number != 3)
            }
        })
        func stars(_ condition: Where<Article>) throws -> [Int] {
            try stack.fetchAll(From<Article>().where(condition).orderBy(.ascending(\Article.stars))).map(\.stars)
        }
        #expect(try stars((\Article.body).search("swift")) == [0])
        #expect(try stars((\Article.body).search("swift* OR sql")) == [0, 1, 3])
        #expect(try stars((\Article.body).search("ubermassig")) == [4])
        #expect(try stars((\Article.body).search("\"ipsum lorem\" -swift")) == [4])
        #expect(try stars(!(\Article.body).search("sql")) == [1, 2, 4])
        #expect(try stars(Where(format: "isOpen == true AND stars >= 3")) == [4])
        try stack.perform(synchronous: { transaction in
            _ = try transaction.updateAll(From<Article>().where((\Article.body).search("sql")), .set(\.body, to: "nothing"))
            let article = try transaction.fetchOne(From<Article>().where((\Article.body).search("swiftly")))
            article?.body = "SQL"
            #expect(try transaction.fetchAll(From<Article>().where((\Article.body).search("sql"))).count == 1)
        })
        #expect(try stars((\Article.body).search("sql")) == [1])
        #expect(try stars((\Article.body).search("nothing")) == [0, 3])
    }
}
#endif

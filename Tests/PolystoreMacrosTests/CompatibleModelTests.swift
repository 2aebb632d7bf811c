#if Macros
import PolystoreCompatibility
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
}
#endif

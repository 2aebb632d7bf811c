#if Macros
import PolystoreCompatibility
import PolystoreInMemory
import PolystoreMacros
import Testing

@Model final class Tree: ManagedObject {
    var height: Int = 0
    var kind: String?
    @Relationship var parent: Tree?
    @Relationship(inverse: \Tree.parent) var branches: Set<Tree>
}

/// CoreStore's clauses with key paths of model classes.
@Suite struct KeyPathClauseTests {
    @Test func conditionsCompareKeyPaths() throws {
        let stack = try DataStack(Tree.self)
        try stack.addStorageAndWait(InMemoryStore())
        let ids = try stack.perform(synchronous: { transaction in
            let root = try transaction.create(Into<Tree>())
            let leaf = try transaction.create(Into<Tree>())
            root.height = 3
            leaf.kind = "leaf"
            leaf.parent = root
            return [root.objectID, leaf.objectID]
        })
        func found(_ condition: Where<Tree>) throws -> [Int64] { try stack.fetchObjectIDs(From<Tree>(), condition).map(\.key.key) }
        let root = try #require(try stack.fetchExisting(ids[0])), (first, second) = (ids[0].key.key, ids[1].key.key)
        #expect(try found(Where(\.height, isEqualTo: 3)) == [first])
        #expect(try found(Where(\.kind, isEqualTo: nil)) == [first])
        #expect(try found(Where(\.kind, isEqualTo: "leaf")) == [second])
        #expect(try found(Where(\.kind, isMemberOf: ["leaf", "branch"])) == [second])
        #expect(try found(Where(\.height, isMemberOf: [3, 4])) == [first])
        #expect(try found(Where(\.parent, isEqualTo: root)) == [second] && found(Where(\.parent, isEqualTo: nil)) == [first])
        #expect(try found(Where(\.parent, isMemberOf: [root])) == [second])
        #expect(try found(Where(\.parent, isEqualTo: ids[0])) == [second] && found(Where(\.parent, isMemberOf: [ids[1]])) == [])
    }

    @Test @MainActor func sectionsAreThoseOfAKeyPath() throws {
        let stack = try DataStack(Tree.self)
        try stack.addStorageAndWait(InMemoryStore())
        try stack.perform(synchronous: { transaction in
            for height in [1, 2, 2] { try transaction.create(Into<Tree>()).height = height }
        })
        let list = From<Tree>().sectionBy(\.height) { (name) -> String? in name.map { "\($0) m" } }.where(\.height > 0)
            .orderBy(.ascending(\.height))
        let monitor = try stack.monitorSectionedList(list)
        #expect(monitor.sections.map(\.numberOfObjects) == [1, 2] && monitor.sectionIndexTitles == ["1 m", "2 m"])
        #expect(try stack.monitorSectionedList(From<Tree>().sectionBy(\.height).orderBy(.ascending(\.height))).hasSections())
    }
}
#endif

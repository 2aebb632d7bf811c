import Foundation
import Testing

@testable import PolystoreObjects
@testable import PolystoreObservation

/// Snapshots of lists, and changes of them by hand.
@Suite struct ListSnapshotTests {
    typealias Snapshot = ListSnapshot<DynamicObject>
    typealias ID = ObjectID<DynamicObject>

    static let store = UUID()

    static func id(_ key: Int64, store: UUID = store, root: String = "Thing") -> ID {
        ID(ObjectKey(store: store, root: root, key: key))
    }

    /// A snapshot from sections, each a name and keys.
    static func snapshot(_ sections: [(String, [Int64])], updated: [Int64] = []) -> Snapshot {
        let contents = ListContents(
            items: ContiguousArray(sections.flatMap(\.1).map { ListContents.Item(key: $0, store: 1) }),
            sections: sections.map { .init(name: $0.0, count: $0.1.count) })
        return Snapshot(
            contents, stores: ListStores([0: UUID(), 1: store], root: "Thing"),
            updated: Set(updated.map { ListContents.Item(key: $0, store: 1) })
        )
    }

    static func shape(_ snapshot: Snapshot) -> [String] {
        snapshot.sections.map { "\($0.name):\($0.map { String($0.key.key) }.joined(separator: ","))" }
    }

    @Test func aSnapshotIsACollectionOfIdentities() {
        let list = Self.snapshot([("a", [1, 2]), ("b", []), ("c", [3])])
        #expect(Array(list) == [Self.id(1), Self.id(2), Self.id(3)])
        #expect(list.itemIDs == Array(list))
        #expect(list.numberOfItems == 3 && list.numberOfSections == 3)
        #expect(list.sectionIDs == ["a", "b", "c"])
        #expect(list.sections[2].name == "c" && Array(list.sections[2]) == [Self.id(3)])
        #expect(list.sections[1].isEmpty)
        #expect(list.items(inSectionAt: 0)?.itemIDs == [Self.id(1), Self.id(2)])
        #expect(list.items(inSectionAt: 3) == nil)
        #expect(list.items(inSectionWithID: "c")?.count == 1)
        #expect(list.items(inSectionWithID: "d") == nil)
        #expect(list.indexOfSection(withID: "b") == 1)
    }

    @Test func everyIndexPathIsFoundAndNoOther() {
        let list = Self.snapshot([("a", [1, 2]), ("b", []), ("c", [3])])
        #expect(list[0, 1] == Self.id(2) && list[2, 0] == Self.id(3))
        #expect(list[IndexPath(indexes: [2, 0])] == Self.id(3))
        #expect(list[safeIndexPath: IndexPath(indexes: [0, 1])] == Self.id(2))
        for path in [[0, 2], [1, 0], [3, 0], [-1, 0], [0, -1], [0], [0, 0, 0], []] {
            #expect(list[safeIndexPath: IndexPath(indexes: path)] == nil)
        }
        #expect(list[safeIndex: 2] == Self.id(3) && list[safeIndex: 3] == nil && list[safeIndex: -1] == nil)
        #expect(list[safeSection: 2, safeItem: 0] == Self.id(3) && list[safeSection: 1, safeItem: 0] == nil)
        #expect(list.index(of: Self.id(3)) == 2 && list.indexPath(of: Self.id(3)) == IndexPath(indexes: [2, 0]))
        #expect(list.index(of: Self.id(4)) == nil && list.index(of: Self.id(1, store: UUID())) == nil)
        #expect(list.index(of: Self.id(1, root: "Other")) == nil && !list.contains(Self.id(9)))
    }

    @Test func snapshotsAreEqualThatHoldTheSame() {
        let list = Self.snapshot([("a", [1, 2])]), same = Self.snapshot([("a", [1, 2])], updated: [1])
        // The tables of stores differ in a store that has no object in the list.
        #expect(list == same && list.hashValue == same.hashValue)
        #expect(list != Self.snapshot([("a", [2, 1])]))
        #expect(list != Self.snapshot([("b", [1, 2])]))
        #expect(list != Self.snapshot([("a", [1]), ("b", [2])]))
        #expect(same.updatedItemIDs == [Self.id(1)] && list.updatedItemIDs.isEmpty)
    }

    @Test func aListIsBuiltByEditing() throws {
        var list = Snapshot()
        #expect(list.isEmpty && list.numberOfSections == 1)
        try list.appendItems(withIDs: [Self.id(1), Self.id(2)])
        #expect(Self.shape(list) == [":1,2"])
        list = Snapshot()
        try list.appendSections(withIDs: ["a", "b"])
        #expect(Self.shape(list) == ["a:", "b:"])
        try list.appendItems(withIDs: [Self.id(1)], toSectionWithID: "a")
        try list.appendItems(withIDs: [Self.id(2), Self.id(3)])
        try list.insertItems(withIDs: [Self.id(4)], beforeItemID: Self.id(1))
        try list.insertItems(withIDs: [Self.id(5)], afterItemID: Self.id(2))
        try list.insertItems(withIDs: [Self.id(6), Self.id(7)], at: IndexPath(indexes: [0, 2]))
        #expect(Self.shape(list) == ["a:4,1,6,7", "b:2,5,3"])
        try list.moveItem(withID: Self.id(4), beforeItemID: Self.id(7))
        #expect(Self.shape(list) == ["a:1,6,4,7", "b:2,5,3"])
        try list.moveItem(withID: Self.id(1), afterItemID: Self.id(3))
        try list.moveItem(withID: Self.id(5), afterItemID: Self.id(5))
        #expect(Self.shape(list) == ["a:6,4,7", "b:2,5,3,1"])
        try list.moveItem(at: IndexPath(indexes: [1, 0]), to: IndexPath(indexes: [1, 3]))
        try list.moveItem(at: IndexPath(indexes: [0, 2]), to: IndexPath(indexes: [1, 0]))
        #expect(Self.shape(list) == ["a:6,4", "b:7,5,3,1,2"])
        try list.reloadItems(withIDs: [Self.id(5)])
        try list.reloadItems(at: [IndexPath(indexes: [0, 0])])
        #expect(list.updatedItemIDs == [Self.id(5), Self.id(6)])
        try list.deleteItems(withIDs: [Self.id(5), Self.id(4)])
        try list.deleteItems(at: [IndexPath(indexes: [1, 0])])
        #expect(Self.shape(list) == ["a:6", "b:3,1,2"])
        #expect(list.updatedItemIDs == [Self.id(6)])
        #expect(list.index(of: Self.id(2)) == 3)
        list.deleteAllItems()
        #expect(Self.shape(list) == ["a:", "b:"] && list.updatedItemIDs.isEmpty)
    }

    @Test func sectionsAreEdited() throws {
        var list = Self.snapshot([("a", [1, 2]), ("b", [3]), ("c", [4])])
        try list.insertSections(withIDs: ["x", "y"], beforeSectionID: "b")
        try list.insertSections(withIDs: ["z"], afterSectionID: "c")
        try list.insertSections(withIDs: ["first"], at: 0)
        #expect(Self.shape(list) == ["first:", "a:1,2", "x:", "y:", "b:3", "c:4", "z:"])
        try list.deleteSections(withIDs: ["first", "x"])
        try list.deleteSections(at: [1, 4])
        #expect(Self.shape(list) == ["a:1,2", "b:3", "c:4"])
        try list.moveSection(withID: "a", beforeSectionID: "c")
        #expect(Self.shape(list) == ["b:3", "a:1,2", "c:4"])
        try list.moveSection(withID: "c", afterSectionID: "b")
        #expect(Self.shape(list) == ["b:3", "c:4", "a:1,2"])
        try list.moveSection(at: 0, to: 2)
        try list.moveSection(withID: "c", beforeSectionID: "c")
        try list.moveSection(withID: "c", afterSectionID: "c")
        #expect(Self.shape(list) == ["c:4", "a:1,2", "b:3"])
        try list.reloadSections(withIDs: ["a"])
        try list.reloadSections(at: [0])
        #expect(list.updatedItemIDs == [Self.id(1), Self.id(2), Self.id(4)])
        try list.deleteSections(withIDs: ["a"])
        #expect(list.updatedItemIDs == [Self.id(4)])
    }

    @Test func missingItemsAndSectionsAreErrorsAndChangeNothing() {
        let list = Self.snapshot([("a", [1, 2]), ("b", [3])])
        func refused(_ code: StorageError.Code, _ change: (inout Snapshot) throws(StorageError) -> Void) {
            var changed = list
            #expect { try change(&changed) } throws: { ($0 as? StorageError)?.code == code }
            #expect(changed == list && changed.updatedItemIDs.isEmpty)
        }
        let nowhere = IndexPath(indexes: [1, 9])
        refused(.notFound) { list throws(StorageError) in try list.appendItems(withIDs: [Self.id(4)], toSectionWithID: "c") }
        refused(.alreadyExists) { list throws(StorageError) in try list.appendItems(withIDs: [Self.id(4), Self.id(1)]) }
        refused(.alreadyExists) { list throws(StorageError) in try list.appendItems(withIDs: [Self.id(4), Self.id(4)]) }
        refused(.notFound) { list throws(StorageError) in try list.insertItems(withIDs: [Self.id(4)], beforeItemID: Self.id(9)) }
        refused(.notFound) { list throws(StorageError) in try list.insertItems(withIDs: [Self.id(4)], afterItemID: Self.id(9)) }
        refused(.notFound) { list throws(StorageError) in try list.insertItems(withIDs: [Self.id(4)], at: nowhere) }
        refused(.notFound) { list throws(StorageError) in try list.insertItems(withIDs: [Self.id(4)], at: IndexPath(indexes: [0])) }
        refused(.notFound) { list throws(StorageError) in try list.deleteItems(withIDs: [Self.id(1), Self.id(9)]) }
        refused(.notFound) { list throws(StorageError) in try list.deleteItems(at: [nowhere]) }
        refused(.notFound) { list throws(StorageError) in try list.moveItem(withID: Self.id(9), beforeItemID: Self.id(1)) }
        refused(.notFound) { list throws(StorageError) in try list.moveItem(withID: Self.id(1), afterItemID: Self.id(9)) }
        refused(.notFound) { list throws(StorageError) in try list.moveItem(at: nowhere, to: IndexPath(indexes: [0, 0])) }
        // Once it is taken out, its section has only one place.
        refused(.notFound) { list throws(StorageError) in
            try list.moveItem(at: IndexPath(indexes: [1, 0]), to: IndexPath(indexes: [1, 1]))
        }
        refused(.notFound) { list throws(StorageError) in try list.reloadItems(withIDs: [Self.id(1), Self.id(9)]) }
        refused(.notFound) { list throws(StorageError) in try list.reloadItems(at: [nowhere]) }
        refused(.alreadyExists) { list throws(StorageError) in try list.appendSections(withIDs: ["c", "a"]) }
        refused(.alreadyExists) { list throws(StorageError) in try list.appendSections(withIDs: ["c", "c"]) }
        refused(.notFound) { list throws(StorageError) in try list.insertSections(withIDs: ["c"], beforeSectionID: "d") }
        refused(.notFound) { list throws(StorageError) in try list.insertSections(withIDs: ["c"], at: 3) }
        refused(.notFound) { list throws(StorageError) in try list.deleteSections(withIDs: ["a", "c"]) }
        refused(.notFound) { list throws(StorageError) in try list.deleteSections(at: [0, 2]) }
        refused(.notFound) { list throws(StorageError) in try list.moveSection(withID: "a", afterSectionID: "c") }
        refused(.notFound) { list throws(StorageError) in try list.moveSection(at: 0, to: 2) }
        refused(.notFound) { list throws(StorageError) in try list.reloadSections(withIDs: ["a", "c"]) }
        refused(.notFound) { list throws(StorageError) in try list.reloadSections(at: [0, -1]) }
    }

    @Test func namesOfSectionsAreNotInMessages() {
        var list = Snapshot()
        #expect { try list.deleteSections(withIDs: ["secret"]) } throws: { !"\($0)".contains("secret") }
    }

    @Test func objectsOfSeveralStoresAndHierarchiesAreDistinguished() throws {
        var list = Snapshot()
        let other = UUID()
        try list.appendItems(withIDs: [Self.id(1), Self.id(1, store: other), Self.id(1, root: "Other")])
        #expect(Array(list) == [Self.id(1), Self.id(1, store: other), Self.id(1, root: "Other")])
        #expect(list.index(of: Self.id(1, root: "Other")) == 2)
    }

    @Test func applyingADifferenceYieldsTheOtherListWithAnySections() {
        var random = RandomLists(seed: 131)
        for _ in 0..<300 {
            let stores = (ListStores([0: Self.store, 1: UUID()], root: "Thing"), ListStores([0: UUID(), 1: Self.store], root: "Thing"))
            let old = Snapshot(random.list(universe: 12, sections: 3), stores: stores.0)
            let new = Snapshot(random.list(universe: 12, sections: nil), stores: random.number(2) == 0 ? stores.0 : stores.1)
            let difference = new.difference(from: old)
            #expect(Array(old).applying(difference) == Array(new))
            // The shortest there is, as the standard library finds it.
            #expect(difference.count == Array(new).difference(from: Array(old)).count)
        }
    }

    @Test func movesOfADifferenceKnowEachOther() {
        let difference = Self.snapshot([("", [2, 3, 1])]).difference(from: Self.snapshot([("", [1, 2, 3])]))
        #expect(difference.removals == [.remove(offset: 0, element: Self.id(1), associatedWith: 2)])
        #expect(difference.insertions == [.insert(offset: 2, element: Self.id(1), associatedWith: 0)])
    }

    @Test func changesBetweenSnapshotsSeeTheSameObjectUnderOtherPositionsOfItsStore() throws {
        var old = Snapshot()
        try old.appendItems(withIDs: [Self.id(1), Self.id(7, store: UUID()), Self.id(2)])
        let new = Self.snapshot([("", [2, 1])], updated: [2])
        let changes = new.changes(from: old)
        #expect(changes.deleted == [IndexPath(indexes: [0, 1])] && changes.inserted.isEmpty && changes.moved.count == 1)
        #expect(changes.updated == [IndexPath(indexes: [0, 2])])
        let stages = new.stages(from: old)
        #expect(stages.first?.snapshot == old && stages.last?.snapshot == new)
    }
}

import Foundation
import Testing

@testable import PolystoreObjects
@testable import PolystoreObservation

/// What leads from one list to the next.
@Suite struct ListChangesTests {
    /// A list from a text: `a:12 b:3` are the items 1 and 2 in section a and 3 in section b; without a colon there are no sections.
    static func list(_ text: String) -> ListContents {
        func items(_ text: Substring) -> [ListContents.Item] {
            text.unicodeScalars.map { ListContents.Item(key: Int64($0.value), store: 0) }
        }
        guard text.contains(":") else { return ListContents(items: ContiguousArray(items(text[...]))) }
        let sections = text.split(separator: " ").map { $0.split(separator: ":", omittingEmptySubsequences: false) }
        return ListContents(
            items: ContiguousArray(sections.flatMap { items($0[1]) }),
            sections: sections.map { .init(name: String($0[0]), count: $0[1].count) })
    }

    private func changes(_ old: String, _ new: String, updated: String = "") -> ListChanges {
        ListChanges(from: Self.list(old), to: Self.list(new), updated: Set(Self.list(updated).items))
    }

    private func path(_ section: Int, _ item: Int) -> IndexPath { IndexPath(indexes: [section, item]) }

    @Test func equalListsHaveNoChanges() {
        #expect(changes("123", "123").isEmpty)
        #expect(changes("a:12 b:3", "a:12 b:3").isEmpty)
        #expect(changes("", "").isEmpty)
    }

    @Test func newItemsAreInsertedAndMissingItemsDeleted() {
        let found = changes("123", "1453")
        #expect(found.deleted == [path(0, 1)])
        #expect(found.inserted == [path(0, 1), path(0, 2)])
        #expect(found.moved.isEmpty && found.updated.isEmpty && found.deletedSections.isEmpty && found.insertedSections.isEmpty)
    }

    @Test func onlyAnItemThatGoesToTheEndIsMoved() {
        let found = changes("12345", "23451")
        #expect(found.moved == [.init(from: path(0, 0), to: path(0, 4))])
        #expect(found.deleted.isEmpty && found.inserted.isEmpty)
    }

    @Test func ofTwoExchangedItemsOneMoves() { #expect(changes("12", "21").moved.count == 1) }

    @Test func aReversedListKeepsOneInPlace() { #expect(changes("123456", "654321").moved.count == 5) }

    @Test func anItemThatChangesItsSectionMoves() {
        let found = changes("a:12 b:3", "a:1 b:23")
        #expect(found.moved == [.init(from: path(0, 1), to: path(1, 0))])
        #expect(found.deletedSections.isEmpty && found.insertedSections.isEmpty && found.deleted.isEmpty && found.inserted.isEmpty)
    }

    @Test func itemsOfADeletedSectionAreDeletedOrMovedByThemselves() {
        let found = changes("a:12 b:3", "b:31")
        #expect(found.deletedSections == [0])
        #expect(found.deleted == [path(0, 1)])
        #expect(found.moved == [.init(from: path(0, 0), to: path(0, 1))])
    }

    @Test func itemsOfAnInsertedSectionAreInsertedOrMovedByThemselves() {
        let found = changes("b:31", "a:12 b:3")
        #expect(found.insertedSections == [0])
        #expect(found.inserted == [path(0, 1)])
        #expect(found.moved == [.init(from: path(0, 1), to: path(0, 0))])
    }

    @Test func ofTwoExchangedSectionsTheSmallerIsDeletedAndInserted() {
        let found = changes("a:123 b:4", "b:4 a:123")
        #expect(found.deletedSections == [1] && found.insertedSections == [0])
        #expect(found.moved == [.init(from: path(1, 0), to: path(0, 0))])
    }

    @Test func emptySectionsComeAndGo() {
        let found = changes("a: b:1", "b:1 c:")
        #expect(found.deletedSections == [0] && found.insertedSections == [1])
        #expect(found.deleted.isEmpty && found.inserted.isEmpty && found.moved.isEmpty)
    }

    @Test func updatesAreNamedByTheOldListAndOnlyWhereTheItemIsInBoth() {
        let found = changes("1234", "2415", updated: "1235")
        #expect(found.updated == [path(0, 0), path(0, 1)])
        #expect(found.deleted == [path(0, 2)])
    }

    @Test func aListThatGetsSectionsMovesEverything() {
        let found = changes("12", "a:1 b:2")
        #expect(found.deletedSections == [0] && found.insertedSections == [0, 1])
        #expect(found.moved.map(\.from) == [path(0, 0), path(0, 1)])
    }

    @Test func fewTouchedItemsMoveOneThatWasNotIfThatIsLess() {
        let old = Self.list("123456"), new = Self.list("612345"), touched = Set(Self.list("12345").items)
        let found = ListChanges(from: old, to: new, touched: touched, updated: [])
        #expect(found.moved == [.init(from: path(0, 5), to: path(0, 0))])
    }

    @Test func untouchedItemsThatDidNotKeepTheirOrderAreFoundNonetheless() throws {
        let old = Self.list("a:123 b:45"), new = Self.list("a:32 b:451")
        let found = ListChanges(from: old, to: new, touched: [], updated: [])
        #expect(try ListApplication.apply(found, to: old, from: new) == new)
    }

    @Test func stepsWithDuplicateNamesAndItemsYieldTheNewList() throws {
        let old = Self.list("a:1 a:23"), new = Self.list("b:3 a:2 a:1")
        let found = ListChanges(from: old, to: new)
        #expect(try ListApplication.apply(found, to: old, from: new) == new)
    }
}

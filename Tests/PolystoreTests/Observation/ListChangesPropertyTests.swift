import Foundation
import Testing

@testable import PolystoreObjects
@testable import PolystoreObservation

/// Lists by chance: every way to find the changes leads to the new list, with as few moves as any.
@Suite struct ListChangesPropertyTests {
    /// The number of common items less the most that can stay: the best of all sets of them, tried one by one.
    private func fewestMoves(_ old: ListContents, _ new: ListContents) -> Int {
        let oldStarts = SectionStarts(old.sections), newStarts = SectionStarts(new.sections)
        let common = old.items.indices.compactMap { from in new.items.firstIndex(of: old.items[from]).map { (from, $0) } }
        let fits = common.map { from, to in
            old.sections[oldStarts.section(at: from)].name == new.sections[newStarts.section(at: to)].name
        }
        var most = 0
        for set in 0..<1 << common.count where set.nonzeroBitCount > most {
            let chosen = common.indices.filter { set & 1 << $0 != 0 }
            // Ascending in the old list by themselves.
            let goals = chosen.map { common[$0].1 }
            if chosen.allSatisfy({ fits[$0] }), zip(goals, goals.dropFirst()).allSatisfy(<) { most = set.nonzeroBitCount }
        }
        return common.count - most
    }

    /// What must hold of any changes between two lists.
    private func check(_ changes: ListChanges, _ old: ListContents, _ new: ListContents, updated: Set<ListContents.Item>) throws {
        #expect(try ListApplication.apply(changes, to: old, from: new) == new)
        let starts = SectionStarts(old.sections)
        let named = changes.updated.compactMap { starts.position(of: $0).map { old.items[$0] } }
        #expect(Set(named) == updated.intersection(old.items).intersection(new.items))
    }

    @Test(arguments: [nil, 1, 5] as [Int?]) func smallListsTakeTheFewestMoves(_ sections: Int?) throws {
        var random = RandomLists(seed: 1 + (sections ?? 0))
        for _ in 0..<1_500 {
            let old = random.list(universe: 9, sections: sections), new = random.list(universe: 9, sections: sections)
            let updated = Set(random.list(universe: 9, sections: nil).items)
            let changes = ListChanges(from: old, to: new, updated: updated)
            try check(changes, old, new, updated: updated)
            #expect(changes.moved.count == fewestMoves(old, new), "\(old) \(new)")
        }
    }

    @Test(arguments: [nil, 1, 12] as [Int?]) func anyTwoListsAreBridged(_ sections: Int?) throws {
        var random = RandomLists(seed: 11 + (sections ?? 0))
        for _ in 0..<500 {
            let old = random.list(universe: 60, sections: sections), new = random.list(universe: 60, sections: sections)
            let updated = Set(random.list(universe: 60, sections: nil).items)
            try check(ListChanges(from: old, to: new, updated: updated), old, new, updated: updated)
        }
    }

    /// What a commit changed, found out with what is known of it and without; both must be right and agree.
    private func bothForms(
        _ old: ListContents, _ new: ListContents, touched: Set<ListContents.Item>, updated: Set<ListContents.Item>
    ) throws -> ListChanges {
        let known = ListChanges(from: old, to: new, touched: touched, updated: updated)
        let unknown = ListChanges(from: old, to: new, updated: updated)
        try check(known, old, new, updated: updated)
        try check(unknown, old, new, updated: updated)
        #expect(known.moved.count == unknown.moved.count)
        #expect((unknown.deleted, unknown.inserted, unknown.updated) == (known.deleted, known.inserted, known.updated))
        return known
    }

    @Test(arguments: [nil, 5] as [Int?]) func commitsOnSmallListsTakeTheFewestMovesInBothForms(_ sections: Int?) throws {
        var random = RandomLists(seed: 31 + (sections ?? 0))
        for _ in 0..<1_500 {
            let old = random.list(universe: 9, sections: sections)
            let commit = random.commit(old, count: 1 + random.number(4))
            let changes = try bothForms(old, commit.new, touched: commit.touched, updated: commit.updated)
            #expect(changes.moved.count == fewestMoves(old, commit.new))
        }
    }

    @Test(arguments: [nil, 20] as [Int?]) func theTwoFormsAgreeOnCommitsOfAnySize(_ sections: Int?) throws {
        var random = RandomLists(seed: 51 + (sections ?? 0))
        for _ in 0..<600 {
            let old = random.list(universe: 200, sections: sections)
            let commit = random.commit(old, count: 1 + random.number(20))
            _ = try bothForms(old, commit.new, touched: commit.touched, updated: commit.updated)
        }
    }

    @Test func indexPathsAndPositionsConvertToEachOther() {
        var random = RandomLists(seed: 71)
        for _ in 0..<300 {
            let list = random.list(universe: 30, sections: 8), starts = SectionStarts(list.sections)
            var position = 0
            for (section, one) in list.sections.enumerated() {
                for item in 0..<one.count {
                    #expect(starts.path(at: position) == IndexPath(indexes: [section, item]))
                    #expect(starts.position(of: IndexPath(indexes: [section, item])) == position)
                    position += 1
                }
                #expect(starts.position(section: section, item: one.count) == nil)
            }
            #expect(starts.position(section: list.sections.count, item: 0) == nil && starts.position(section: -1, item: 0) == nil)
            #expect(starts.position(of: IndexPath(indexes: [0])) == nil)
        }
    }
}

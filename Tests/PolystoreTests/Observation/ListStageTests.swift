import Foundation
import Testing

@testable import PolystoreObjects
@testable import PolystoreObservation

/// The steps from one list to the next.
@Suite struct ListStageTests {
    private func stages(_ old: String, _ new: String, updated: String = "") -> [ContentsStage] {
        let old = ListChangesTests.list(old), new = ListChangesTests.list(new)
        return ContentsStage.stages(
            from: old, to: new, by: ListChanges(from: old, to: new, updated: Set(ListChangesTests.list(updated).items)))
    }

    private func path(_ section: Int, _ item: Int) -> IndexPath { IndexPath(indexes: [section, item]) }

    /// The list after whole sections have moved: taken out where they were, then put in where they go, in the order of that.
    static func move(_ moves: [ListChanges.SectionMove], in list: ListContents) throws -> ListContents {
        let starts = SectionStarts(list.sections)
        var left = Array(list.sections.indices)
        for move in moves {
            guard let index = left.firstIndex(of: move.from) else { throw ListApplication.Failure("section \(move.from) is not there") }
            left.remove(at: index)
        }
        for (first, second) in zip(moves, moves.dropFirst()) where first.to >= second.to {
            throw ListApplication.Failure("moves do not ascend")
        }
        for move in moves {
            guard move.to <= left.count else { throw ListApplication.Failure("section \(move.to) is behind the end") }
            left.insert(move.from, at: move.to)
        }
        return ListContents(items: ContiguousArray(left.flatMap { list.items[starts.range($0)] }), sections: left.map { list.sections[$0] })
    }

    /// Checks each step by itself, and that it is of one kind.
    static func check(_ stages: [ContentsStage], from old: ListContents, to new: ListContents) throws {
        var shown = old
        for stage in stages {
            #expect(stage.movedSections.isEmpty != stage.changes.isEmpty)
            #expect(
                try move(stage.movedSections, in: try ListApplication.apply(stage.changes, to: shown, from: stage.contents))
                    == stage.contents)
            let changes = stage.changes
            let isAlone = [
                !changes.updated.isEmpty, !changes.insertedSections.isEmpty, !changes.deletedSections.isEmpty,
                !changes.moved.isEmpty,
            ]
            #expect(isAlone.filter(\.self).count <= 1)
            // What comes with a section or goes with it is all that changes then.
            if !changes.insertedSections.isEmpty {
                #expect(changes.deleted.isEmpty && changes.inserted.allSatisfy { changes.insertedSections.contains($0[0]) })
            }
            if !changes.deletedSections.isEmpty {
                #expect(changes.inserted.isEmpty && changes.deleted.allSatisfy { changes.deletedSections.contains($0[0]) })
            }
            shown = stage.contents
        }
        #expect(shown == new)
    }

    @Test func noChangesAreNoSteps() { #expect(stages("a:1 b:2", "a:1 b:2").isEmpty) }

    @Test func itemsAmongSectionsThatStayAreOneStep() {
        let found = stages("a:12 b:3", "a:4 b:31")
        #expect(found.count == 1)
        #expect(found.first?.changes.deleted == [path(0, 1)])
        #expect(found.first?.changes.inserted == [path(0, 0)])
        #expect(found.first?.changes.moved == [.init(from: path(0, 0), to: path(1, 1))])
    }

    @Test func updatesComeBeforeMoves() {
        let found = stages("12", "21", updated: "1")
        #expect(found.count == 2)
        #expect(found.first?.changes.updated == [path(0, 0)])
        #expect(found.first?.contents == ListChangesTests.list("12"))
        #expect(found.last?.changes.moved.count == 1)
    }

    @Test func aSectionComesWithItsNewItemsAndThenGetsThoseOfOthers() {
        let found = stages("a:12", "a:1 b:32")
        #expect(found.map(\.contents) == [ListChangesTests.list("a:12 b:3"), ListChangesTests.list("a:1 b:32")])
        #expect(found.first?.changes.insertedSections == [1])
        #expect(found.first?.changes.inserted == [path(1, 0)])
        #expect(found.last?.changes.moved == [.init(from: path(0, 1), to: path(1, 1))])
    }

    @Test func aSectionGoesOnceItsItemsHaveMovedOut() {
        let found = stages("a:12 b:3", "b:31")
        #expect(found.map(\.contents) == [ListChangesTests.list("a:2 b:31"), ListChangesTests.list("b:31")])
        #expect(found.first?.changes.moved == [.init(from: path(0, 0), to: path(1, 1))])
        #expect(found.last?.changes.deletedSections == [0])
        #expect(found.last?.changes.deleted == [path(0, 0)])
    }

    @Test func sectionsMoveAsAWhole() {
        let found = stages("a:123 b:45", "b:45 a:123")
        #expect(found.count == 1)
        #expect(found.first?.movedSections == [.init(from: 1, to: 0)])
        #expect(found.first?.changes.isEmpty == true)
    }

    @Test func everyKindOfChangeIsAStepOfItsOwn() throws {
        let found = stages("a:123 b:45 c:6", "b:451 d:7 a:23 e:8", updated: "4")
        #expect(found.count == 5)
        #expect(found[0].changes.updated == [path(1, 0)])
        #expect(found[1].changes.insertedSections.count == 2)
        #expect(found[2].movedSections.count == 1)
        #expect(found[3].changes.moved.count == 1)
        #expect(found[4].changes.deletedSections.count == 1 && found[4].changes.deleted.count == 1)
    }

    @Test(arguments: [nil, 1, 6] as [Int?]) func stepsBetweenAnyTwoListsHoldByThemselves(_ sections: Int?) throws {
        var random = RandomLists(seed: 91 + (sections ?? 0))
        for _ in 0..<700 {
            let old = random.list(universe: 25, sections: sections), new = random.list(universe: 25, sections: sections)
            let changes = ListChanges(from: old, to: new, updated: Set(random.list(universe: 25, sections: nil).items))
            try Self.check(ContentsStage.stages(from: old, to: new, by: changes), from: old, to: new)
        }
    }

    @Test(arguments: [nil, 20] as [Int?]) func stepsOfCommitsHoldByThemselves(_ sections: Int?) throws {
        var random = RandomLists(seed: 111 + (sections ?? 0))
        for _ in 0..<500 {
            let old = random.list(universe: 100, sections: sections)
            let commit = random.commit(old, count: 1 + random.number(8))
            let changes = ListChanges(from: old, to: commit.new, touched: commit.touched, updated: commit.updated)
            try Self.check(ContentsStage.stages(from: old, to: commit.new, by: changes), from: old, to: commit.new)
        }
    }
}

#if Macros
import Foundation
import PolystoreInMemory
import PolystoreMacros
import Testing

@Model class Team: ManagedObject {
    var name: String = ""
    @Relationship var members: Set<Member>
}

@Model class Member: ManagedObject {
    var name: String = ""
    @Relationship(inverse: \Team.members) var teams: Set<Team>
}

@Model final class Captain: Member { var rank: Int = 0 }

/// What is told of objects whose class inherits a relationship.
@Suite struct InheritedRelationshipTests {
    @Test func aValueOfASubclassFollowsPairsOfItsParent() throws {
        let stack = try DataStack(Team.self, Member.self, Captain.self)
        try stack.addStorageAndWait(InMemoryStore())
        try stack.perform(synchronous: { transaction in
            _ = try transaction.create(Captain.self)
            _ = try transaction.create(Team.self)
        })
        let teams = try stack.publishValue(of: Captain.self) { try $0.fetchOne(From<Captain>())?.teams.count ?? -1 }
        #expect(teams.value == 0)
        try stack.perform(synchronous: { transaction in
            let captain = try #require(try transaction.fetchOne(From<Captain>()))
            captain.add(\.teams, relation: try transaction.fetchOne(From<Team>()))
        })
        for _ in 0..<5_000 where teams.value != 1 { usleep(1000) }
        #expect(teams.value == 1)
    }

    @Test func aListOfASubclassReceivesChangesOfPairsOfItsParent() throws {
        let stack = try DataStack(Team.self, Member.self, Captain.self)
        try stack.addStorageAndWait(InMemoryStore())
        try stack.perform(synchronous: { transaction in
            _ = try transaction.create(Captain.self)
            _ = try transaction.create(Team.self)
        })
        let captains = try stack.publishList(From<Captain>()), members = try stack.publishList(From<Member>())
        let teams = try stack.publishList(From<Team>()), commits = try stack.commits().makeAsyncIterator()
        _ = commits
        try stack.perform(synchronous: { transaction in
            let captain = try #require(try transaction.fetchOne(From<Captain>()))
            captain.add(\.teams, relation: try transaction.fetchOne(From<Team>()))
        })
        func updated() -> Int {
            captains.snapshot.updatedItemIDs.count + members.snapshot.updatedItemIDs.count + teams.snapshot.updatedItemIDs.count
        }
        for _ in 0..<5_000 where updated() == 0 { usleep(1000) }
        usleep(100_000)
        // Pairs belong to one side: the lists of its class and of those below are told.
        let isMembers = !members.snapshot.updatedItemIDs.isEmpty
        #expect(captains.snapshot.updatedItemIDs.count == (isMembers ? 1 : 0))
        #expect(teams.snapshot.updatedItemIDs.count == (isMembers ? 0 : 1))
    }
}
#endif

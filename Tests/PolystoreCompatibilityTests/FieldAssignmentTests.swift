import Foundation
import PolystoreCompatibility
import PolystoreInMemory
import Testing

/// The operators of CoreStore 4 for fields.
@Suite struct FieldAssignmentTests {
    /// Whether all are true. The macro of the test does not know the precedence of the operator.
    private func hold(_ facts: Bool...) -> Bool { facts.allSatisfy { $0 } }

    @Test func fieldsAreAssignedByAnOperator() throws {
        let stack = try makeStack()
        try stack.addStorageAndWait(InMemoryStore())
        try stack.perform(synchronous: { transaction in
            let ann = try transaction.create(Master.self), bob = try transaction.create(Master.self)
            let rex = try transaction.create(Dog.self), max = try transaction.create(Dog.self), walk = try transaction.create(Walk.self)
            ann.name .= "Ann"
            bob.name .= ann.name
            #expect(hold(bob.name.value == "Ann", bob.name .== "Ann", "Ann" .== bob.name, bob.name .== ann.name))
            rex.nickname .= "Rex"
            max.nickname .= rex.nickname
            #expect(hold(max.nickname.value == "Rex", max.nickname .== rex.nickname))
            max.nickname .= nil
            #expect(hold(max.nickname.value == nil, max.nickname .== nil, !(max.nickname .== rex.nickname)))
            max.nickname .= ann.name
            #expect(hold(max.nickname .== ann.name, ann.name .== max.nickname))
            ann.notes .= ["a"]
            bob.notes .= ann.notes
            #expect(bob.notes.value == ["a"])
            rex.master .= ann
            max.master .= rex.master
            #expect(hold(max.master .== ann, ann .== max.master, max.master .== rex.master, ann.pets.value == [rex, max]))
            bob.pets .= [rex]
            #expect(hold(rex.master .== bob, ann.pets.value == [max]))
            bob.pets .= ann.pets
            #expect(hold(max.master .== bob, rex.master .== nil))
            ann.walks .= [walk]
            #expect(hold(walk.master .== ann))
            bob.walks .= ann.walks
            #expect(bob.walks.value == [walk] && ann.walks.value == [])
        })
        #expect(try stack.fetchCount(From<Dog>().where(\.nickname == "Ann")) == 1)
    }
}

#if Macros
import Foundation
import PolystoreMacros
import TestStores
import Testing

struct Budget: CodedAttributeValue, Equatable {
    var amount = 0
    static var placeholder: Budget { Budget() }
}

@Model final class Worker: ManagedObject {
    var first: String = ""
    var last: String?
    var age: Int?
    var bonus: Int?
    var salary: Int = 0
    var budget: Budget = Budget()
    var skills: [String] = []
    @Relationship var boss: Worker?
    @Relationship(inverse: \Worker.boss, deleteRule: .cascade) var staff: Set<Worker>
    @Relationship(inverse: \Errand.worker) var errands: [Errand]
    var signature: String { computed(as: \.first + " #" + \.first) { "\(first) #\(first)" } }
}

@Model final class Errand: ManagedObject {
    var title: String = ""
    @Relationship var worker: Worker?
    @Relationship(inverse: \Step.errand) var steps: Set<Step>
}

@Model final class Step: ManagedObject {
    @Relationship var errand: Errand?
}

/// Forms of requests: comparisons of optional properties, arithmetic, texts, orders and prefetches.
@Suite struct QueryFormTests {
    private func stack(_ store: TestStore) throws -> DataStack {
        let stack = try DataStack(Worker.self, Errand.self, Step.self)
        try stack.addStorageAndWait(store.make())
        try stack.perform(synchronous: { transaction in
            let ann = try transaction.create(Worker.self), bob = try transaction.create(Worker.self)
            let cid = try transaction.create(Worker.self)
            (ann.first, ann.last, ann.salary, ann.age, ann.bonus) = ("Ann", "A", 3, 30, 3)
            (bob.first, bob.salary, bob.boss, bob.age) = ("Bob", 4, ann, 20)
            (cid.first, cid.last, cid.salary, cid.boss) = ("Cid", "C", 3, ann)
            let errand = try transaction.create(Errand.self)
            (errand.title, errand.worker) = ("mail", bob)
            try transaction.create(Step.self).errand = errand
        })
        return stack
    }

    private func names(_ stack: DataStack, _ condition: Where<Worker>) throws -> [String] {
        try stack.queryValues(From<Worker>().where(condition).orderBy(\.first).tuples(\.first))
    }

    @Test(arguments: TestStore.all) func aPropertyIsComparedWithAnOptionalOne(_ store: TestStore) throws {
        let stack = try stack(store)
        #expect(try names(stack, \.salary > \.boss?.salary) == ["Bob"])
        #expect(try names(stack, \.boss?.salary < \.salary) == ["Bob"])
        #expect(try names(stack, \.salary >= \.boss?.salary) == ["Bob", "Cid"])
        #expect(try names(stack, \.salary <= \.bonus) == ["Ann"])
        #expect(try names(stack, \.salary == \.bonus) == ["Ann"])
        #expect(try names(stack, \.boss?.salary == \.salary) == ["Cid"])
        #expect(try names(stack, \.salary != \.boss?.salary) == ["Ann", "Bob"])
    }

    @Test(arguments: TestStore.all) func arithmeticAppliesToOptionalAttributes(_ store: TestStore) throws {
        let stack = try stack(store)
        #expect(try names(stack, \.age + 1 > 30) == ["Ann"])
        #expect(try names(stack, \.age - \.bonus == 27) == ["Ann"])
        try stack.perform(synchronous: { _ = try $0.updateAll(From<Worker>(), .set(\.age, to: \.age + 1)) })
        #expect(try stack.queryValues(From<Worker>().orderBy(\.first).tuples(\.age)) == [31, 21, nil])
        try stack.perform(synchronous: {
            _ = try $0.updateAll(From<Worker>(), .set(\.age, to: ValueExpression(\.age).or(0) * 2))
        })
        #expect(try stack.queryValues(From<Worker>().orderBy(\.first).tuples(\.age)) == [62, 42, 0])
    }

    @Test(arguments: TestStore.all) func textsAreConcatenated(_ store: TestStore) throws {
        let stack = try stack(store)
        #expect(try names(stack, \.signature == "Bob #Bob") == ["Bob"])
        #expect(try names(stack, \.first + "!" == "Cid!") == ["Cid"])
        #expect(try names(stack, \.last + \.last == "AA") == ["Ann"])
        #expect(try names(stack, \.last + "x" == nil) == ["Bob"])
        #expect(try stack.fetchAll(From<Worker>().orderBy(.descending(\.signature))).map(\.signature).first == "Cid #Cid")
    }

    @Test(arguments: TestStore.all) func aComparisonWithNilIsAnExpression(_ store: TestStore) throws {
        let stack = try stack(store)
        let order = OrderBy<Worker>(.ascending(ValueExpression(\Worker.last == nil)), .descending(\.first))
        #expect(try stack.fetchAll(From<Worker>().orderBy(order)).map(\.first) == ["Cid", "Ann", "Bob"])
    }

    @Test(arguments: TestStore.all) func theProgramChoosesTheOrder(_ store: TestStore) throws {
        let stack = try stack(store)
        func names(_ request: From<Worker>) throws -> [String] { try stack.fetchAll(request).map(\.first) }
        var keys = [OrderBy<Worker>.ascending(\.salary)]
        #expect(try names(From<Worker>().orderBy(keys)) == ["Ann", "Cid", "Bob"])
        keys.append(.descending(\.first))
        #expect(try names(From<Worker>().orderBy(keys)) == ["Cid", "Ann", "Bob"])
        #expect(try names(From<Worker>().orderBy([])) == ["Ann", "Bob", "Cid"])
    }

    @Test(arguments: TestStore.all) func aPrefetchContinuesBehindAToManyRelationship(_ store: TestStore) throws {
        let stack = try stack(store)
        stack.relationships = .strict
        func steps(_ request: From<Worker>) throws -> [Int] {
            try stack.read(synchronous: { source in
                // The advice needs the objects of the request, which a program has while it follows their relationships.
                let bosses = try source.fetchAll(request.where(\.boss == nil)), staff = bosses.flatMap(\.staff)
                return withExtendedLifetime((bosses, staff)) { staff.flatMap(\.errands).map(\.steps.count) }
            })
        }
        #expect(try steps(From<Worker>().prefetch(\.staff) { $0.prefetch(\.errands) { $0.prefetch(\.steps) } }) == [1])
        #expect {
            try steps(From<Worker>().prefetch(\.staff) { $0.prefetch(\.errands) })
        } throws: {
            "\($0)".contains("; fetch Worker with .prefetch(\\.staff) { $0.prefetch(\\.errands) { $0.prefetch(\\.steps) } }, or allow")
        }
        #expect { try stack.fetchAll(From<Worker>().prefetch(\.staff) { $0.limit(1) }) } throws: {
            ($0 as? StorageError)?.code == .invalidPredicate
        }
    }

    @Test func aPartOfAValueThatIsStoredAsAWholeIsRefused() throws {
        let stack = try stack(.memory)
        for predicate: Predicate<Worker> in [
            #Predicate { $0.skills.contains("x") }, #Predicate { $0.skills.isEmpty }, #Predicate { $0.budget.amount == 0 },
        ] {
            #expect { try stack.fetchCount(From<Worker>().where(predicate)) } throws: {
                "\($0)".contains("stored and compared as a whole; make its parts attributes, or an entity")
            }
        }
        #expect { try stack.fetchCount(From<Worker>().where(\.budget.amount == 0)) } throws: {
            "\($0)".contains("stored and compared as a whole; make its parts attributes, or an entity")
        }
    }

    @Test func anAggregateWithoutItsSignIsExplained() throws {
        let stack = try stack(.memory)
        #expect { try stack.queryAttributes(From<Worker>().select(.init(named: "sum(salary)"))) } throws: {
            "\($0)".contains("no function named \"sum\"; an aggregate begins with @: @sum(…)")
        }
    }
}
#endif

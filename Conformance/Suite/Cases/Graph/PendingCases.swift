internal import Polystore
internal import PolystoreStorage

/// Cases of group L, further part: fetches and pages that include uncommitted changes.
enum PendingCases {
    static let all: [ConformanceCase] = conditions + batches + pages

    private static let conditions: [ConformanceCase] = [
        .graph("L025.conditions-read-what-is-pending-of-related-objects", "W3") { stack, check in
            try fill(stack)
            let work = stack.beginUnsafe(), ann = try person("Ann", in: work)
            func pets(_ condition: Where<Pet>) throws -> [String] {
                try work.fetchAll(From<Pet>().where(condition).orderBy(.ascending(\.name))).map(\.name)
            }
            func people(_ condition: Where<Person>) throws -> [String] {
                try work.fetchAll(From<Person>().where(condition).orderBy(.ascending(\.name))).map(\.name)
            }
            ann.age = 5
            check.equal(try pets(\.owner?.age == 5), ["Rex"], "through a to-one")
            check.equal(try pets(\.owner?.age == 10), [], "by its former value")
            check.equal(try people((\Person.children).any(\.age == 5)), ["Ben"], "one of a to-many")
            check.equal(try people((\Person.children).all(\.age == 5)), ["Ann", "Ben"], "all of a to-many")
            check.equal(try people((\Person.children).sum(\.age) == 5), ["Ben"], "a total of a to-many")
            check.equal(try people((\Person.clubs).any((\Club.members).any(\.age == 5))), ["Ann", "Ben"], "by way of two pair tables")
            check.equal(try work.fetchCount(From<Pet>().where(\.owner?.age == 5)), 1, "a count")
            check.equal(try work.fetchIDs(From<Pet>().where(\.owner?.age == 5)).count, 1, "ids")
            let tom = try work.fetchAll(From<Pet>().where(\.name == "Tom"))[0]
            tom.owner = ann
            check.equal(try people((\Person.pets).count == 2), ["Ann"], "members that came")
            check.equal(try people((\Person.pets).count == 0), ["Ben"], "and that left")
            try work.delete(tom)
            check.equal(try people((\Person.pets).count == 2), [], "a member that was deleted")
            let new = try work.create(Dog.self)
            (new.name, new.owner) = ("New", try person("Ben", in: work))
            check.equal(try people((\Person.pets).any(\.name == "New")), ["Ben"], "a member that was created")
            ann.clubs = []
            check.equal(try people((\Person.clubs).count == 0), ["Ann"], "a pair that was taken out")
            check.equal(try pets(\.owner?.age < 20 && \.name != "Rex"), [], "together with another condition")
            check.equal(try pets(\.owner?.age < 21 && \.name != "Rex"), ["New"], "that others satisfy")
        },
        .graph("L026.what-others-changed-since-is-as-the-store-has-it", "W3") { stack, check in
            try fill(stack)
            let work = stack.beginUnsafe()
            let tom = try work.fetchAll(From<Pet>().where(\.name == "Tom"))[0], ben = try person("Ben", in: work)
            try stack.write { transaction in
                try transaction.edit(tom)?.chip = "changed"
                try transaction.edit(ben)?.age = 77
            }
            func expect(_ what: String) throws {
                check.equal(try work.fetchIDs(From<Pet>().where(\.chip == "changed")), [tom.objectID], "\(what): found by its new value")
                check.equal(try work.fetchCount(From<Pet>().where(\.name == "Tom" && \.chip == nil)), 0, "\(what): not by its old one")
                check.equal(try work.fetchIDs(From<Pet>().where(\.owner?.age == 77)), [tom.objectID], "\(what): by that of its owner")
            }
            try expect("before")
            try work.fetchAll(From<Pet>().where(\.name == "Rex"))[0].chip = "r"
            try expect("after an unrelated change")
            try person("Ann", in: work).age = 11
            try expect("after a change of another owner")
        },
        .graph("L035.what-can-fail-is-computed-of-what-is-pending", "W3, Q2") { stack, check in
            try fill(stack)
            try stack.write { try person("Ben", in: $0).age = 0 }
            let work = stack.beginUnsafe(), ben = try person("Ben", in: work)
            func people(_ condition: String) throws -> [String] {
                try work.fetchAll(From<Person>().where(Where(format: condition)).orderBy(.ascending(\.name))).map(\.name)
            }
            ben.age = 5
            check.equal(try people("100 / age >= 10"), ["Ann", "Ben"], "by the new value")
            check.equal(try people("parent.age == 5 AND 100 / age >= 10"), ["Ann"], "after a condition on another object")
            ben.age = 0
            check.equal(try people("parent.age == 0 AND 100 / age >= 10"), ["Ann"], "not of what is excluded")
            check.throwing(.divisionByZero, "of what is not excluded") { _ = try people("100 / age >= 10") }
        },
    ]

    private static let batches: [ConformanceCase] = [
        .graph("B021.a-batch-folds-marks-without-case", "T2") { stack, check in
            try stack.write { transaction in
                for name in ["ABC", "abc", "\u{c4}BC", "x"] { try transaction.create(Person.self).name = name }
            }
            try stack.write { transaction in
                let folded = From<Person>().where(Where(format: "name ==[d] 'ABC'"))
                check.equal(try transaction.deleteAll(folded), 2, "deleted")
            }
            let left = try stack.fetchAll(From<Person>().orderBy(.ascending(\.name))).map(\.name)
            check.equal(left, ["abc", "x"], "left")
        },
        .graph("B020.the-last-assignment-of-an-attribute-counts", "W16") { stack, check in
            try fill(stack)
            try stack.write { try $0.updateAll(From<Person>(), .set(\.age, to: 1), .set(\.score, to: 3), .set(\.age, to: 2)) }
            check.equal(try stack.fetchAll(From<Person>()).map(\.age), [2, 2], "ages")
            check.throwing(.validationFailed, "nil of no owner") {
                try stack.write { transaction in
                    _ = try transaction.updateAll(From<Pet>(), .set(\.name, to: ValueExpression(.path(PropertyPath("owner.name")))))
                }
            }
            check.equal(try stack.fetchCount(From<Pet>().where(Where(format: "name == NIL"))), 0, "nothing without a name")
            let owned = From<Pet>().where(\.owner != nil)
            try stack.write { try $0.updateAll(owned, .set(\.name, to: ValueExpression(.path(PropertyPath("owner.name"))))) }
            check.equal(try stack.fetchAll(From<Pet>()).map(\.name), ["Ann", "Ben", "Stray"], "objects with an owner")
            check.throwing(.valueNotStorable, "NaN") { try stack.write { _ = try $0.updateAll(From<Person>(), .set(\.score, to: .nan)) } }
        },
    ]

    private static let pages: [ConformanceCase] = [
        .graph("L030.a-page-of-nothing-is-empty", "O5") { stack, check in
            try fill(stack)
            let page = try stack.fetchPage(From<Pet>().limit(0))
            check.equal(page.objects.count, 0, "objects")
            check.equal(page.next, nil, "a next page")
            check.equal(try stack.fetchOne(From<Pet>().limit(0))?.name, nil, "the first of none")
            check.equal(try stack.fetchOne(From<Pet>().limit(3).offset(1))?.name, "Tom", "the first behind one")
        },
        .graph("L030.a-cursor-that-is-not-of-the-request-is-refused", "O5") { stack, check in
            try fill(stack)
            let byName = From<Pet>().orderBy(.ascending(\.name)).limit(1)
            let cursor = try stack.fetchPage(byName).next ?? PageCursor("")
            check.equal(try stack.fetchPage(byName, after: cursor).objects.map(\.name), ["Stray"], "the second page")
            for (what, text) in [("of nothing", ""), ("altered", cursor.description + "AA"), ("invented", "abc")] {
                check.throwing(.tokenExpired, what) { _ = try stack.fetchPage(byName, after: PageCursor(text)) }
            }
            check.throwing(.tokenExpired, "of another order") {
                _ = try stack.fetchPage(From<Pet>().orderBy(.descending(\.name)), after: cursor)
            }
            check.throwing(.invalidPredicate, "a wrong request") { _ = try stack.fetchPage(byName.offset(1), after: cursor) }
        },
        .graph("L030.objects-have-no-order", "O5") { stack, check in
            try fill(stack)
            check.throwing(.invalidPredicate, "all") { _ = try stack.fetchAll(From<Pet>().orderBy(.ascending(\.owner))) }
            check.throwing(.invalidPredicate, "a page") { _ = try stack.fetchPage(From<Pet>().orderBy(.ascending("owner"))) }
            check.equal(try stack.fetchAll(From<Pet>().orderBy(.descending("SELF"))).map(\.name), ["Stray", "Tom", "Rex"], "by identity")
        },
        .graph("L030.an-entity-of-another-class-is-refused", "Q10") { stack, check in
            try fill(stack)
            try stack.write { try $0.create(Cat.self).lives = 9 }
            check.throwing(.invalidPredicate, "dogs among pets") { _ = try stack.fetchAll(From<Dog>(entity: "Pet")) }
            check.throwing(.invalidPredicate, "a count") { _ = try stack.fetchCount(From<Dog>(entity: "Person")) }
            check.equal(try stack.fetchCount(From<Pet>(entity: "Dog")), 3, "a class above is no other")
        },
        .graph("L027.pages-follow-the-order-that-is-pending", "O5") { stack, check in
            try fill(stack)
            let work = stack.beginUnsafe()
            try person("Ann", in: work).age = 100
            check.equal(try pages(work, From<Pet>().orderBy(.ascending(\.owner?.age))), ["Stray", "Tom", "Rex"], "by related objects")
            check.equal(try pages(work, From<Pet>().orderBy(.descending(\.owner?.age))), ["Rex", "Tom", "Stray"], "descending")
            let condition = From<Pet>().where(\.owner?.age > 50 || \.owner == nil)
            check.equal(try pages(work, condition.orderBy(.descending(\.owner?.age))), ["Rex", "Stray"], "with a condition")
        },
        .graph("L028.pages-of-what-is-committed", "O5") { stack, check in
            try fill(stack)
            struct Undone: Error {}
            try? stack.write { transaction in
                let committed = From<Pet>().orderBy(.ascending(\.name)).includesPendingChanges(false)
                let all = try transaction.fetchAll(From<Pet>().orderBy(.ascending(\.name)))
                all[0].name = "Zoe"
                check.equal(try pages(transaction, committed), ["Zoe", "Stray", "Tom"], "in the order of committed names")
                try transaction.delete(all[1])
                check.equal(try pages(transaction, committed), ["Zoe", "Tom"], "without objects deleted here")
                throw Undone()
            }
        },
        .graph("L029.pages-follow-the-order-of-the-store", "O5") { stack, check in
            try fill(stack)
            let view = stack.makeViewContext(merging: .onDemand)
            // The objects are retained, so that the instances keep their state.
            let held = try view.fetchAll(From<Pet>().orderBy(.ascending(\.name)))
            try stack.write { try $0.edit(held[0])?.name = "Zoe" }
            check.equal(try pages(view, From<Pet>().orderBy(.ascending(\.name))).count, 3, "each object is on one page")
        },
    ]

    /// Returns the names on pages of one object.
    private static func pages(_ source: some FetchSource, _ from: From<Pet>) throws -> [String] {
        var names: [String] = [], cursor: PageCursor?
        repeat {
            let page = try source.fetchPage(from.limit(1), after: cursor)
            names += page.objects.map(\.name)
            cursor = page.next
        } while cursor != nil && names.count < 10
        return names
    }

    /// Creates Ann, 10, with Rex, who is a child of Ben, 20, with Tom. Stray has no owner. Both people are in one club.
    private static func fill(_ stack: DataStack) throws {
        try stack.write { transaction in
            let ann = try transaction.create(Person.self), ben = try transaction.create(Person.self)
            (ann.name, ann.age, ann.parent) = ("Ann", 10, ben)
            (ben.name, ben.age) = ("Ben", 20)
            for (name, owner) in [("Rex", ann), ("Tom", ben), ("Stray", nil)] {
                let dog = try transaction.create(Dog.self)
                (dog.name, dog.owner) = (name, owner)
            }
            try transaction.create(Club.self).members = [ann, ben]
        }
    }

    private static func person(_ name: String, in source: some FetchSource) throws -> Person {
        guard let person = try source.fetchOne(From<Person>().where(\.name == name)) else { throw StorageError(.notFound, "no \(name)") }
        return person
    }
}

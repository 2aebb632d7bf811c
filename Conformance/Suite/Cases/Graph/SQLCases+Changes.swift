internal import Polystore
internal import PolystoreStorage

extension SQLCases {
    static let changes: [ConformanceCase] = [
        .graph("Q020.a-statement-changes-rows-and-objects-follow", "W18", needs: sql) { stack, check in
            try fill(stack)
            try stack.write { transaction in
                let ann = try person("Ann", in: transaction), bob = try person("Bob", in: transaction)
                ann.score = 3
                let count = try transaction.execute(
                    """
                    UPDATE \(table: Person.self) SET \(column: \Person.age) = \(column: \Person.age) + \(1), "_version" = "_version" + 1 \
                    WHERE \(column: \Person.score) = \(3.0) OR \(column: \Person.name) = \("Bob")
                    """)
                check.equal(count, 2, "rows")
                check.equal([ann.age, bob.age], [31, 11], "ages")
                check.equal(ann.score, 3, "values assigned before")
                ann.age += 1
                check.equal(
                    try transaction.execute("UPDATE \(table: Person.self) SET \(column: \Person.score) = \(9.0) WHERE 1 = 0"), 0, "no rows")
            }
            let ages = try stack.read(synchronous: { source in
                try ["Ann", "Bob", "Cid"].map { [try person($0, in: source).age, Int(try person($0, in: source).version)] }
            })
            check.equal(ages, [[32, 4], [11, 2], [50, 1]], "ages and versions")
        },
        .graph("Q021.what-a-statement-deletes-is-gone", "W18", needs: sql) { stack, check in
            try stack.add("Ann", "Bob")
            try stack.write { transaction in
                let ann = try person("Ann", in: transaction)
                let count = try transaction.execute("DELETE FROM \(table: Person.self) WHERE \(column: \Person.name) = \("Ann")")
                check.equal(count, 1, "rows")
                check.isTrue((try transaction.fetchExisting(ann) == nil), "the object has the change")
                check.equal(try transaction.fetchAll(From<Person>()).map(\.name), ["Bob"], "inside")
            }
            check.equal(try stack.names(), ["Bob"], "names")
        },
        .graph("Q022.a-part-that-fails-undoes-its-statements", "W18", needs: sql) { stack, check in
            try stack.add("Ann", "Bob")
            struct Failure: Error {}
            try stack.write { transaction in
                let ann = try person("Ann", in: transaction), bob = try person("Bob", in: transaction)
                do {
                    try transaction.nested {
                        try transaction.execute("DELETE FROM \(table: Person.self) WHERE \(column: \Person.name) = \("Ann")")
                        try transaction.execute("UPDATE \(table: Person.self) SET \(column: \Person.age) = \(9)")
                        check.equal(bob.age, 9, "inside the part")
                        throw Failure()
                    }
                } catch is Failure {}
                check.equal(bob.age, 0, "after it")
                check.isTrue(try transaction.fetchExisting(ann) === ann, "deleted objects exist again")
                ann.age = 7
            }
            check.equal(try stack.fetchAll(From<Person>().orderBy(.ascending(\.name))).map(\.age), [7, 0], "ages")
        },
        .graph("Q023.a-statement-that-fails-leaves-nothing", "W18", needs: sql) { stack, check in
            try fill(stack)
            try stack.write { transaction in
                try transaction.create(Person.self).name = "Dan"
                check.throwing(.uniqueConstraintViolated, "two with one email") {
                    try transaction.execute("UPDATE \(table: Person.self) SET \(column: \Person.email) = \("c")")
                }
                check.equal(try transaction.fetchCount(From<Person>().where(\.email == "c")), 1, "inside")
            }
            check.equal(try stack.names(), ["Ann", "Bob", "Cid", "Dan"], "names")
        },
        .graph("Q024.a-rollback-takes-statements-with-it", "W18", needs: sql) { stack, check in
            try stack.add("Ann")
            struct Failure: Error {}
            do {
                try stack.write { transaction in
                    try transaction.execute("DELETE FROM \(table: Person.self)")
                    throw Failure()
                }
            } catch is Failure {}
            check.equal(try stack.names(), ["Ann"], "names")
        },
        .graph("Q026.a-row-that-a-statement-adds-keeps-its-key", "W18", needs: sql) { stack, check in
            func add(_ name: String) -> RawSQL {
                """
                INSERT INTO \(table: Club.self) (\(column: \Club.self), "_version", \(column: \Club.name)) \
                SELECT max(\(column: \Club.self)) + 1, 1, \(name) FROM \(table: Club.self)
                """
            }
            try stack.write { try $0.create(Club.self).name = "Chess" }
            try stack.write { check.equal(try $0.execute(add("Go")), 1, "rows") }
            try stack.write { transaction in
                try transaction.create(Club.self).name = "Dance"
                check.equal(try transaction.execute(add("Skat")), 1, "rows after an object of the transaction")
                try transaction.create(Club.self).name = "Golf"
            }
            try stack.write { transaction in
                struct Failure: Error {}
                try? transaction.nested {
                    try transaction.execute(add("Polo"))
                    throw Failure()
                }
                try transaction.create(Club.self).name = "Yoga"
            }
            let names = try stack.fetchAll(From<Club>().orderBy(.ascending(\.name))).map(\.name)
            check.equal(names, ["Chess", "Dance", "Go", "Golf", "Skat", "Yoga"], "clubs")
        },
        .graph("Q027.a-key-that-a-statement-changes-is-not-given-again", "W18", needs: sql) { stack, check in
            func move(_ name: String) -> RawSQL {
                """
                UPDATE \(table: Club.self) SET \(column: \Club.self) = (SELECT max(\(column: \Club.self)) + 1 FROM \(table: Club.self)) \
                WHERE \(column: \Club.name) = \(name)
                """
            }
            let last: RawSQL = """
                UPDATE \(table: Club.self) SET \(column: \Club.self) = \(Int64.max) WHERE \(column: \Club.name) = \("Go")
                """
            try stack.write { transaction in for name in ["Chess", "Go"] { try transaction.create(Club.self).name = name } }
            try stack.write { check.equal(try $0.execute(move("Chess")), 1, "rows") }
            try stack.write { transaction in
                try transaction.create(Club.self).name = "Dance"
                // The greatest key of all leaves the others to new objects.
                check.equal(try transaction.execute(last), 1, "rows with the greatest key")
                try transaction.create(Club.self).name = "Golf"
            }
            try stack.write { transaction in
                let ages: RawSQL = """
                    UPDATE \(table: Club.self) SET \(column: \Club.name) = \("Go!") WHERE \(column: \Club.self) = \(Int64.max)
                    """
                check.equal(try transaction.execute(ages), 1, "rows by key")
            }
            try stack.write { check.equal(try $0.execute(move("insert")), 0, "rows of no object") }
            let commented: RawSQL = """
                UPDATE \(table: Club.self) SET /* the key */ \(column: \Club.self) = (SELECT max(\(column: \Club.self)) + 1 \
                FROM \(table: Club.self) WHERE \(column: \Club.self) < \(Int64.max)) WHERE \(column: \Club.name) = \("Golf")
                """
            try stack.write { check.equal(try $0.execute(commented), 1, "rows") }
            try stack.write { try $0.create(Club.self).name = "Yoga" }
            let names = try stack.fetchAll(From<Club>().orderBy(.ascending(\.name))).map(\.name)
            check.equal(names, ["Chess", "Dance", "Go!", "Golf", "Yoga"], "clubs")
        },
        .graph("Q025.contexts-follow-statements", "C1", needs: sql) { stack, check in
            try stack.add("Ann", "Bob")
            let context = stack.makeViewContext()
            let people = try context.fetchAll(From<Person>().orderBy(.ascending(\.name)))
            try stack.write { try $0.execute("UPDATE \(table: Person.self) SET \(column: \Person.age) = \(5)") }
            check.isTrue(try context.merge(), "the merge has changes")
            check.equal(people.map(\.age), [5, 5], "ages")
        },
    ]
}

internal import Polystore
internal import PolystoreStorage

/// Cases in which the layer above a store performs an operation that the store lacks: it must read in blocks, not row by row.
enum BlockCases {
    private static let count = 3_000

    static let all: [ConformanceCase] = [
        ConformanceCase("O027.a-sort-over-a-relationship-reads-in-blocks", clause: "O3") { harness, check in
            try harness.withWeakStack { stack, store in
                for ascending in [true, false] {
                    let order: OrderBy<Dog> = ascending ? .ascending(\.owner?.name) : .descending(\.owner?.name)
                    let names = try fill(stack, ascending: ascending), request = From<Dog>().orderBy(order), before = store.reads
                    check.equal(try stack.fetchAll(request).map(\.name), names, "ascending \(ascending)")
                    check.isTrue(store.reads - before < 20, "reads of a fetch: \(store.reads - before)")
                    let limited = request.offset(700).limit(100)
                    check.equal(try stack.fetchAll(limited).map(\.name), Array(names[700..<800]), "a part of it")
                    check.isTrue(store.reads - before < 40, "reads of a part: \(store.reads - before)")
                }
            }
        },
        ConformanceCase("O027.pending-changes-read-in-blocks", clause: "O3") { harness, check in
            try harness.withWeakStack { stack, store in
                let expected = try fill(stack), work = stack.beginUnsafe()
                _ = try work.create(Cat.self)
                let before = store.reads
                check.equal(try work.fetchAll(From<Dog>().orderBy(.ascending(\.owner?.name))).map(\.name), expected, "sorted")
                check.isTrue(store.reads - before < 40, "reads: \(store.reads - before)")
            }
        },
        ConformanceCase("O027.lists-read-in-blocks", clause: "H7") { harness, check in
            try harness.withWeakStack { stack, store in
                let expected = try fill(stack), before = store.reads
                let publisher = try stack.publishList(From<Dog>().orderBy(.ascending(\.owner?.name)))
                check.equal(publisher.snapshot.count, expected.count, "objects")
                check.isTrue(store.reads - before < 40, "reads: \(store.reads - before)")
            }
        },
        ConformanceCase("L016.conflicts-are-found-in-blocks", clause: "W9") { harness, check in
            try harness.withWeakStack { stack, store in
                _ = try fill(stack)
                let work = stack.beginUnsafe(), dogs = try work.fetchAll(From<Dog>().orderBy(.ascending(\.name)))
                for dog in dogs { dog.tricks = 1 }
                try stack.write { transaction in
                    for dog in try transaction.fetchAll(From<Dog>().where(\.name < "d0100")) { dog.name += "!" }
                }
                let before = store.reads
                check.throwing(.staleObject, "changes of others") { try work.commit() }
                check.isTrue(store.reads - before < 20, "reads: \(store.reads - before)")
                try work.commit(merging: .mine)
                let after = try stack.fetchAll(From<Dog>().orderBy(.ascending(\.name)))
                check.isTrue(after.allSatisfy { $0.tricks == 1 }, "mine")
                check.equal(after.filter { $0.name.hasSuffix("!") }.count, 100, "theirs")
            }
        },
    ]

    /// Creates dogs, some without an owner and many with owners of the same name. Returns their names in the order of their owners' names.
    private static func fill(_ stack: DataStack, ascending: Bool = true) throws -> [String] {
        let made = try stack.write { transaction in
            try transaction.deleteAll(From<Person>())
            try transaction.deleteAll(From<Dog>())
            let owners = try (0..<count).map { number in
                let owner = try transaction.create(Person.self)
                owner.name = "o\(number * 7_919 % 500)"
                return owner
            }
            return try (0..<count).map { number -> (String, String?) in
                let dog = try transaction.create(Dog.self), text = String(number)
                dog.name = "d" + String(repeating: "0", count: 4 - text.count) + text
                if number % 5 != 0 { dog.owner = owners[(number * 31 + 1) % count] }
                return (dog.name, dog.owner?.name)
            }
        }
        // Nil is the smallest value. Ties stay in key order, which is the order in which the dogs were created.
        return made.enumerated().sorted { a, b in
            let (first, second) = (a.element.1 ?? "", b.element.1 ?? "")
            return first == second ? a.offset < b.offset : (first < second) == ascending
        }.map(\.element.0)
    }
}

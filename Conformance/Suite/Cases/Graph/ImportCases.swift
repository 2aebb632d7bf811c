internal import Foundation
internal import Polystore
internal import PolystoreStorage

/// Cases of group J: imports.
enum ImportCases {
    static let all: [ConformanceCase] = plain + unique + RandomImports.all + persistable

    private static let plain: [ConformanceCase] = [
        .graph("J001.an-object-from-a-source", "I1") { stack, check in
            let title = try stack.write { try $0.importObject(Into<Song>(), source: "a")?.title }
            check.equal(title, "a", "title")
            check.equal(try stack.fetchAll(From<Song>()).map(\.title), ["a"], "titles")
        },
        .graph("J002.many-in-their-order", "I1") { stack, check in
            let titles = try stack.write { try $0.importObjects(Into<Song>(), sourceArray: ["c", "a", "b", "a"]).map(\.title) }
            check.equal(titles, ["c", "a", "b", "a"], "each source creates one")
            check.equal(try stack.fetchAll(From<Song>()).map(\.title), titles, "keys in the same order")
        },
        .graph("J003.should-insert-leaves-out", "I1") { stack, check in
            let made = try stack.write { transaction in
                check.isTrue(try transaction.importObject(Into<Song>(), source: "skip") == nil, "alone")
                return try transaction.importObjects(Into<Song>(), sourceArray: ["a", "skip", "b"]).map(\.title)
            }
            check.equal(made, ["a", "b"], "the others")
        },
        .graph("J004.a-throw-undoes-everything", "I1") { stack, check in
            do {
                try stack.write { _ = try $0.importObjects(Into<Song>(), sourceArray: ["a", "", "b"]) }
                check.isTrue(false, "it is thrown on")
            } catch {
                check.isTrue(error is ImportRefused, "as it is")
            }
            check.equal(try stack.fetchCount(From<Song>()), 0, "songs")
        },
        .graph("J005.a-nested-import-alone-is-undone", "I1", needs: [.savepoints]) { stack, check in
            try stack.write { transaction in
                _ = try transaction.importObjects(Into<Song>(), sourceArray: ["kept"])
                try? transaction.nested { _ = try transaction.importObjects(Into<Song>(), sourceArray: ["a", ""]) }
            }
            check.equal(try stack.fetchAll(From<Song>()).map(\.title), ["kept"], "titles")
        },
        .pairs("J006.into-a-named-store", "X1", "People", "Rest") { pair, check in
            try pair.stack.write { _ = try $0.importObjects(Into<Song>("Rest"), sourceArray: ["a", "b"]) }
            check.equal(try pair.stack.fetchCount(From<Song>("Rest")), 2, "in the named store")
            check.equal(try pair.stack.fetchCount(From<Song>("People")), 0, "in the other")
        },
        .graph("J007.any-sequence-is-a-source", "I1") { stack, check in
            try stack.write { _ = try $0.importObjects(Into<Song>(), sourceArray: (1...3).lazy.map { "n\($0)" }) }
            check.equal(try stack.fetchCount(From<Song>()), 3, "songs")
        },
    ]

    private static func source(_ email: String?, _ name: String) -> [String: String] {
        email.map { ["email": $0, "name": name] } ?? ["name": name]
    }

    private static func people(_ stack: DataStack) throws -> [String] {
        try stack.fetchAll(From<Person>().orderBy(.ascending(\.email))).map { "\($0.email ?? "-") \($0.name)" }
    }

    private static func importing(_ stack: DataStack, _ sources: [[String: String]]) throws -> [String] {
        try stack.write { try $0.importUniqueObjects(Into<Person>(), sourceArray: sources).map(\.name) }
    }

    private static let unique: [ConformanceCase] = [
        .graph("J010.found-or-made", "I2") { stack, check in
            check.equal(try importing(stack, [source("a", "A"), source("b", "B")]), ["A", "B"], "made")
            check.equal(try importing(stack, [source("b", "B2"), source("c", "C")]), ["B2", "C"], "found and created")
            check.equal(try people(stack), ["a A", "b B2", "c C"], "people")
        },
        .graph("J011.no-id-is-left-out", "I2") { stack, check in
            check.equal(try importing(stack, [source(nil, "no one"), source("a", "A")]), ["A"], "made")
            check.isTrue(try stack.write { try $0.importUniqueObject(Into<Person>(), source: source(nil, "x")) == nil }, "alone")
        },
        .graph("J012.the-last-of-equal-ids-wins", "I2") { stack, check in
            let order = try importing(stack, [source("a", "1"), source("b", "2"), source("a", "3")])
            check.equal(order, ["3", "2"], "in the place of the first")
            check.equal(try people(stack), ["a 3", "b 2"], "people")
        },
        .graph("J013.should-update-leaves-alone", "I2") { stack, check in
            _ = try importing(stack, [source("a", "A")])
            check.equal(try importing(stack, [source("a", "keep"), source("b", "skip")]), [], "neither changed nor created")
            check.equal(try people(stack), ["a A"], "people")
        },
        .graph("J014.a-throw-undoes-everything", "I2") { stack, check in
            _ = try importing(stack, [source("a", "A")])
            check.isTrue((try? importing(stack, [source("a", "changed"), source("b", "")])) == nil, "it is thrown on")
            check.equal(try people(stack), ["a A"], "people")
        },
        .graph("J015.pre-processing", "I2") { stack, check in
            try stack.write { transaction in
                _ = try transaction.importUniqueObjects(
                    Into<Person>(), sourceArray: [source("a", "A"), source("b", "B")],
                    preProcess: { mapping in
                        var mapping = mapping
                        mapping["a"] = nil
                        mapping["b"] = source("b", "replaced")
                        return mapping
                    })
            }
            check.equal(try people(stack), ["b replaced"], "people")
        },
        .graph("J016.what-the-transaction-made-is-found", "I2") { stack, check in
            try stack.write { transaction in
                let new = try transaction.create(Person.self)
                new.email = "a"
                let imported = try transaction.importUniqueObjects(Into<Person>(), sourceArray: [source("a", "A")])
                check.isTrue(imported.first === new, "the same object")
                let again = try transaction.importUniqueObject(Into<Person>(), source: source("a", "A2"))
                check.isTrue(again === new, "and again")
            }
            check.equal(try people(stack), ["a A2"], "people")
        },
        .graph("J017.what-a-detached-transaction-made-is-found", "I2") { stack, check in
            let work = stack.beginUnsafe()
            for name in ["A", "B"] { try work.importUniqueObjects(Into<Person>(), sourceArray: [source("a", name)]) }
            try work.commit()
            check.equal(try people(stack), ["a B"], "people")
        },
        .graph("J018.many-more-than-one-look-up-takes", "I2") { stack, check in
            let count = 3_000
            _ = try importing(stack, stride(from: 0, to: count, by: 2).map { source("e\($0)", "old") })
            let names = try importing(stack, (0..<count).map { source("e\($0)", "n\($0)") })
            check.equal(names, (0..<count).map { "n\($0)" }, "in the order of the sources")
            check.equal(try stack.fetchCount(From<Person>()), count, "people")
            check.equal(try stack.fetchCount(From<Person>().where(\.name == "old")), 0, "not updated")
        },
        .pairs("J019.looked-up-in-the-named-store", "X1", nil, "People") { pair, check in
            for into in [Into<Person>(nil), Into<Person>("People")] {
                try pair.stack.write { try $0.importUniqueObjects(into, sourceArray: [source("a", "A")]) }
            }
            check.equal(try pair.stack.fetchCount(From<Person>()), 2, "one in each")
        },
        .graph("J020.ids-are-compared-by-bytes", "V3, I2") { stack, check in
            _ = try importing(stack, [source("\u{e9}", "composed")])
            _ = try importing(stack, [source("e\u{301}", "decomposed")])
            let both = [source("o\u{308}", "decomposed"), source("\u{f6}", "composed")]
            check.equal(try importing(stack, both), ["decomposed", "composed"], "both in one import")
            check.equal(try stack.fetchCount(From<Person>()), 4, "two ids that Swift's == calls equal")
        },
        .graph("J021.pre-processing-keeps-such-ids-apart", "V3, I2") { stack, check in
            var seen: [[String]] = []
            try stack.write { transaction in
                let both = [source("o\u{308}", "decomposed"), source("a", "A"), source("\u{f6}", "composed"), source("o\u{308}", "last")]
                _ = try transaction.importUniqueObjects(
                    Into<Person>(), sourceArray: both,
                    preProcess: { mapping in
                        seen.append(mapping.values.compactMap { $0["name"] }.sorted())
                        return mapping.mapValues { source($0["email"], ($0["name"] ?? "") + "!") }
                    })
                _ = try transaction.importUniqueObjects(
                    Into<Person>(), sourceArray: [source("\u{f6}", "left out"), source("o\u{308}", "kept")],
                    preProcess: { $0.filter { $0.value["name"] == "kept" } })
            }
            check.equal(seen, [["A", "last"], ["composed"]], "values of each mapping")
            check.equal(try people(stack), ["a A!", "o\u{308} kept", "\u{f6} composed!"], "people")
        },
    ]

    private static let persistable: [ConformanceCase] = [
        .graph("J030.values-import-themselves", "I3") { stack, check in
            try stack.add("Ann")
            let outcomes = try stack.write { transaction in
                let results: [PersistenceResult] = try transaction.importPersistableObjects([
                    Pup(id: 1, name: "Rex", owner: "Ann"), Pup(id: 2, name: "Rolf", owner: "no one"),
                ])
                return results.map { result in
                    switch result {
                    case .inserted: "inserted"
                    case .failed(let error): "failed \(type(of: error))"
                    default: "other"
                    }
                }
            }
            check.equal(outcomes, ["inserted", "failed ImportRefused"], "results")
            check.equal(try stack.read(synchronous: { try $0.fetchAll(From<Dog>()).map { $0.owner?.name } }), ["Ann"], "owners")
        },
        .graph("J031.results-by-id", "I3") { stack, check in
            try stack.add("Ann")
            let keys = try stack.write { transaction in
                let results: [Int: PersistenceResult] = try transaction.importPersistableObjects([
                    Pup(id: 7, name: "Rex", owner: "Ann"), Pup(id: 8, name: "Max", owner: "Ann"),
                ])
                return results.keys.sorted()
            }
            check.equal(keys, [7, 8], "ids")
            check.equal(try stack.fetchCount(From<Dog>()), 2, "dogs")
        },
        .graph("J032.importer-data-is-made-once", "I3") { stack, check in
            try stack.add("Ann")
            try stack.write { transaction in
                // One value removes the owner, so that a second lookup would have another result.
                let results: [PersistenceResult] = try transaction.importPersistableObjects(
                    (0..<3).map { Pup(id: $0, name: "p\($0)", owner: "Ann", takesOwner: true) })
                let made = results.filter { if case .inserted = $0 { true } else { false } }
                check.equal(made.count, 1, "only the first finds the owner")
            }
        },
        .graph("J033.an-error-of-the-transaction-is-not-one-of-a-value", "I3") { stack, check in
            let attempts = try stack.write { transaction in
                let conflict: Visitor.Trouble? = transaction.attempt == 1 ? .conflict : nil
                let visitors = [Visitor(), Visitor(trouble: conflict), Visitor()]
                let results: [PersistenceResult] = try transaction.importPersistableObjects(visitors)
                check.equal(results.filter(\.isInserted).count, 3, "inserted")
                return transaction.attempt
            }
            check.equal(attempts, 2, "attempts")
            check.equal(try stack.fetchCount(From<Person>()), 3, "people")
            check.throwing(.cancelled, "a value that ends the transaction") {
                try stack.write { transaction in
                    let results: [PersistenceResult] = try transaction.importPersistableObjects([Visitor(trouble: .end), Visitor()])
                    check.equal(results.count, 0, "results of a transaction that has ended")
                }
            }
            check.equal(try stack.fetchCount(From<Person>()), 3, "people after a transaction that was cancelled")
        },
        .pairs("J034.values-over-two-stores", "X2, I3", "People", "Rest") { pair, check in
            try pair.needsCommonCommits()
            // In either order of opening the stores.
            for startsWithNote in [true, false] {
                let results: [PersistenceResult] = try pair.stack.write { transaction in
                    try transaction.importPersistableObjects((0..<2).map { _ in Visitor(startsWithNote: startsWithNote) })
                }
                check.equal(results.filter(\.isInserted).count, 2, "inserted")
            }
            check.equal(try pair.stack.fetchCount(From<Person>()), 4, "people")
            check.equal(try pair.stack.fetchCount(From<Note>()), 4, "notes")
        },
    ]
}

/// A dog as a web service sends it, with the name of its owner.
private struct Pup: Persistable, Identifiable {
    let id: Int
    let name: String
    let owner: String
    var takesOwner = false

    static func generateImporterData(objects: [Pup], context: BaseTransaction) throws -> [String: Person] {
        Dictionary(try context.fetchAll(From<Person>()).map { ($0.name, $0) }) { first, _ in first }
    }

    func importIntoContext(_ context: BaseTransaction, importerData: inout [String: Person]) throws -> PersistenceResult {
        guard let owner = takesOwner ? importerData.removeValue(forKey: owner) : importerData[owner] else { throw ImportRefused() }
        let dog = try Dog(context: context)
        dog.name = name
        dog.owner = owner
        return .insert(dog.objectID)
    }
}

/// A person, optionally with a note that is created before or after it, whose import can fail.
private struct Visitor: Persistable {
    enum Trouble { case conflict, end }

    var trouble: Trouble?
    var startsWithNote: Bool?

    func importIntoContext(_ context: BaseTransaction, importerData: inout ()) throws -> PersistenceResult {
        if startsWithNote == true { try context.create(Note.self).text = "by a visitor" }
        // The value itself decides how to handle an error.
        let person = try? context.create(Person.self)
        person?.name = "Ann"
        if startsWithNote == false { try context.create(Note.self).text = "of a visitor" }
        switch trouble {
        case .conflict?: throw StorageError(.serializationFailure, "a conflict")
        case .end?:
            if let transaction = context as? WriteTransaction {
                do { try transaction.cancel() } catch { throw ImportRefused() }
            }
        case nil: break
        }
        guard let person else { throw ImportRefused() }
        return .insert(person.objectID)
    }
}

extension PersistenceResult {
    fileprivate var isInserted: Bool { if case .inserted = self { true } else { false } }
}

internal import Foundation
internal import Polystore
internal import PolystoreStorage

/// Cases of group G: the store that an object is assigned to and fetched from, and commits over two stores.
enum RoutingCases {
    static let all: [ConformanceCase] = single + routing + merged + commits + references

    private static let single: [ConformanceCase] = [
        ConformanceCase("G001.no-store-yet", clause: "X1") { _, check in
            let stack = try Graph.stack()
            check.throwing(.notFound, "fetch") { _ = try stack.fetchAll(From<Person>()) }
            check.throwing(.notFound, "create") { try stack.write { _ = try $0.create(Person.self) } }
        },
        ConformanceCase("G002.no-store-holds-the-entity", clause: "X1") { harness, check in
            try harness.withStack(configuration: "Rest") { stack in
                check.throwing(.notFound, "create") { try stack.write { _ = try $0.create(Person.self) } }
                check.throwing(.notFound, "fetch") { _ = try stack.fetchAll(From<Person>()) }
                try stack.write { try $0.create(Note.self).text = "kept" }
                check.equal(try stack.fetchCount(From<Note>()), 1, "of an entity that it holds")
            }
        },
        ConformanceCase("G003.an-unknown-configuration", clause: "X1") { harness, check in
            check.throwing(.invalidConfiguration, "adding the store") { try harness.withStack(configuration: "Peopel") { _ in } }
        },
        ConformanceCase("G004.a-named-store-never-falls-back", clause: "X1") { harness, check in
            try harness.withStack(configuration: "People") { stack in
                try stack.add("Ann")
                check.equal(try stack.fetchCount(From<Person>("People")), 1, "its own name")
                check.throwing(.notFound, "fetch from another name") { _ = try stack.fetchAll(From<Person>("Rest")) }
                check.throwing(.notFound, "fetch from nil") { _ = try stack.fetchAll(From<Person>(nil)) }
                check.throwing(.notFound, "create into nil") { try stack.write { _ = try $0.create(Into<Person>(nil)) } }
                check.throwing(.notFound, "create into another name") { try stack.write { _ = try $0.create(Into<Person>("Rest")) } }
            }
        },
        .graph("G005.nil-is-the-store-of-all-entities", "X1") { stack, check in
            try stack.write { try $0.create(Into<Person>(nil)).name = "Ann" }
            check.equal(try stack.fetchCount(From<Person>(nil)), 1, "from nil")
            check.equal(try stack.fetchCount(From<Person>()), 1, "from anywhere")
            check.throwing(.notFound, "from a name") { _ = try stack.fetchCount(From<Person>("People")) }
        },
        .graph("G006.the-same-store-twice", "X1") { stack, check in
            check.throwing(.alreadyExists, "adding it again") { try stack.addStorageAndWait(stack.storages[0]) }
            check.equal(stack.storages.count, 1, "stores")
        },
        .graph("G007.a-removed-store", "X1") { stack, check in
            try stack.add("Ann")
            let ann = try stack.fetchAll(From<Person>())[0]
            try stack.removeStorage(stack.storages[0])
            check.throwing(.notFound, "fetch") { _ = try stack.fetchAll(From<Person>()) }
            check.throwing([.notFound, .storeClosed], "an id of it") { _ = try stack.fetchExisting(ann.objectID) }
            check.equal(ann.name, "Ann", "loaded values stay readable")
        },
    ]

    private static let routing: [ConformanceCase] = [
        .pairs("G010.each-entity-in-its-store", "X1", "People", "Rest") { pair, check in
            let (ann, note) = try pair.stack.write { transaction in
                let ann = try transaction.create(Person.self).objectID
                return (ann, pair.commitsTogether ? try transaction.create(Note.self).objectID : nil)
            }
            check.equal(try pair.stack.fetchCount(From<Person>("People")), 1, "people")
            check.throwing(.notFound, "people in the other") { _ = try pair.stack.fetchCount(From<Person>("Rest")) }
            if let note { check.isTrue(ann.key.store != note.key.store, "two stores") }
        },
        .pairs("G011.an-ambiguous-create", "X1", "People", "Rest") { pair, check in
            check.throwing(.invalidConfiguration, "create") { try pair.stack.write { _ = try $0.create(Song.self) } }
            check.throwing(.invalidConfiguration, "import") {
                try pair.stack.write { _ = try $0.importObjects(Into<Song>(), sourceArray: ["title"]) }
            }
            check.equal(try pair.stack.fetchCount(From<Song>()), 0, "songs")
        },
        .pairs("G012.into-names-the-store", "X1", "People", "Rest") { pair, check in
            try song(pair, "p", in: "People")
            try song(pair, "r", in: "Rest")
            check.equal(try titles(pair, From("People")), ["p"], "in the first")
            check.equal(try titles(pair, From("Rest")), ["r"], "in the second")
        },
        .pairs("G013.the-default-store-beside-a-named-one", "X1", nil, "People") { pair, check in
            check.throwing(.invalidConfiguration, "both hold people") { try pair.stack.add("Ann") }
            try pair.stack.write { try $0.create(Into<Person>(nil)).name = "default" }
            try pair.stack.write { try $0.create(Into<Person>("People")).name = "named" }
            check.equal(try pair.stack.fetchAll(From<Person>(nil)).map(\.name), ["default"], "from nil")
            check.equal(try pair.stack.fetchAll(From<Person>("People")).map(\.name), ["named"], "from the name")
            check.equal(try pair.stack.names(), ["default", "named"], "from both")
            try pair.stack.write { try $0.create(Note.self).text = "only one holds notes" }
            check.equal(try pair.stack.fetchCount(From<Note>(nil)), 1, "notes")
        },
        .pairs("G014.relationships-stay-in-one-store", "R3", nil, "People") { pair, check in
            try pair.needsCommonCommits()
            check.throwing(.unsupported, "an owner in the other store") {
                try pair.stack.write { transaction in
                    let ann = try transaction.create(Into<Person>("People")), dog = try transaction.create(Into<Dog>(nil))
                    dog.owner = ann
                }
            }
            check.equal(try pair.stack.fetchCount(From<Pet>()), 0, "pets")
        },
        .pairs("G015.ids-tell-the-store", "R1", "People", "Rest") { pair, check in
            try song(pair, "p", in: "People")
            try song(pair, "r", in: "Rest")
            let ids = try pair.stack.fetchIDs(From<Song>().orderBy(.ascending(\.title)))
            check.equal(ids.map(\.key.key), [1, 1], "the same key in both")
            check.isTrue(ids[0] != ids[1], "two ids")
            check.equal(try ids.compactMap { try pair.stack.fetchExisting($0)?.title }, ["p", "r"], "each finds its own")
            let back = try pair.stack.read(synchronous: { try $0.fetchExisting(Array(ids.reversed())).map(\.title) })
            check.equal(back, ["r", "p"], "a list keeps its order")
        },
        .pairs("G016.edit-finds-the-store", "X1", "People", "Rest") { pair, check in
            try song(pair, "p", in: "People")
            try song(pair, "r", in: "Rest")
            for song in try pair.stack.fetchAll(From<Song>()) {
                try pair.stack.write { try $0.edit(song)?.title += "!" }
            }
            check.equal(try titles(pair), ["p!", "r!"], "titles")
        },
        .pairs("G017.a-store-comes-later", "X1", "People", "Rest") { pair, check in
            let view = pair.stack.makeViewContext()
            try song(pair, "p", in: "People")
            check.equal(try view.fetchCount(From<Song>()), 1, "before")
            try pair.stack.removeStorage(pair.second)
            check.equal(try view.fetchCount(From<Song>()), 1, "without the second")
        },
    ]

    private static let merged: [ConformanceCase] = [
        .pairs("G020.one-sorted-answer", "X5", "People", "Rest") { pair, check in
            try fill(pair)
            check.equal(try titles(pair), ["a", "b", "c", "d", "e", "f"], "ascending")
            check.equal(
                try pair.stack.fetchAll(From<Song>().orderBy(.descending(\.title))).map(\.title).joined(), "fedcba", "descending")
        },
        .pairs("G021.limit-and-offset-over-both", "O4", "People", "Rest") { pair, check in
            try fill(pair)
            let sorted = From<Song>().orderBy(.ascending(\.title))
            check.equal(try pair.stack.fetchAll(sorted.limit(2)).map(\.title), ["a", "b"], "the first two")
            check.equal(try pair.stack.fetchAll(sorted.offset(1).limit(3)).map(\.title), ["b", "c", "d"], "three after one")
            check.equal(try pair.stack.fetchAll(sorted.offset(5)).map(\.title), ["f"], "the last")
            check.equal(try pair.stack.fetchAll(sorted.offset(6)).count, 0, "behind the end")
            check.equal(try pair.stack.fetchOne(sorted)?.title, "a", "the first")
        },
        .pairs("G022.counts-over-both", "X5", "People", "Rest") { pair, check in
            try fill(pair)
            check.equal(try pair.stack.fetchCount(From<Song>()), 6, "all")
            check.equal(try pair.stack.fetchCount(From<Song>().limit(4)), 4, "limited")
            check.equal(try pair.stack.fetchCount(From<Song>().offset(4)), 2, "after an offset")
            check.equal(try pair.stack.fetchCount(From<Song>().where(\.title >= "c")), 4, "with a condition")
            check.equal(try pair.stack.fetchCount(From<Song>("Rest")), 3, "of one store")
        },
        .pairs("G023.ids-over-both", "X5", "People", "Rest") { pair, check in
            try fill(pair)
            let from = From<Song>().orderBy(.descending(\.title)).limit(3)
            check.equal(try pair.stack.fetchIDs(from), try pair.stack.fetchAll(from).map(\.objectID), "ids of the first three")
        },
        .pairs("G024.conditions-over-both", "X5", "People", "Rest") { pair, check in
            try fill(pair)
            let isVowel = (\Song.title).isIn(["a", "e"])
            check.equal(try titles(pair, From<Song>().where(isVowel)), ["a", "e"], "vowels")
            check.equal(try titles(pair, From<Song>().where(!isVowel)), ["b", "c", "d", "f"], "the others")
        },
        .pairs("G025.ties-are-broken-by-key-then-by-store", "O1", "People", "Rest") { pair, check in
            for _ in 0..<2 {
                try song(pair, "x", in: "Rest")
                try song(pair, "x", in: "People")
            }
            let first = try pair.stack.fetchIDs(From<Song>().orderBy(.ascending(\.title)))
            check.equal(first.map(\.key.key), [1, 1, 2, 2], "keys")
            check.equal(try pair.stack.fetchIDs(From<Song>().orderBy(.ascending(\.title))), first, "always in the same order")
            check.equal(try pair.stack.fetchIDs(From<Song>()).map(\.key.key), [1, 1, 2, 2], "without sort keys")
        },
        .pairs("G026.nil-comes-first-over-both", "N3", nil, "People") { pair, check in
            for (name, email) in [("a", "m"), ("b", nil), ("c", "k"), ("d", nil)] as [(String, String?)] {
                try pair.stack.write { transaction in
                    let one = try transaction.create(name < "c" ? Into<Person>(nil) : Into<Person>("People"))
                    one.name = name
                    one.email = email
                }
            }
            let order = From<Person>().orderBy(.ascending(\.email), .ascending(\.name))
            check.equal(try pair.stack.fetchAll(order).map(\.name).joined(), "bdca", "ascending")
            let down = From<Person>().orderBy(.descending(\.email), .ascending(\.name))
            check.equal(try pair.stack.fetchAll(down).map(\.name).joined(), "acbd", "descending")
        },
        .pairs("G027.sorted-by-a-related-value", "O3", nil, "People") { pair, check in
            for (index, owner) in ["b", "d", "a", "c"].enumerated() {
                try pair.stack.write { transaction in
                    let into: String? = index % 2 == 0 ? nil : "People"
                    let dog = try transaction.create(Into<Dog>(into)), person = try transaction.create(Into<Person>(into))
                    person.name = owner
                    dog.owner = person
                    dog.name = "of \(owner)"
                }
            }
            let dogs = try pair.stack.fetchAll(From<Dog>().orderBy(.ascending(\.owner?.name)))
            check.equal(dogs.map(\.name), ["of a", "of b", "of c", "of d"], "dogs by their owners")
        },
        .pairs("G028.prefetch-over-both", "X5", nil, "People") { pair, check in
            for into in [nil, "People"] as [String?] {
                try pair.stack.write { transaction in
                    let one = try transaction.create(Into<Person>(into)), dog = try transaction.create(Into<Dog>(into))
                    dog.owner = one
                    dog.name = into ?? "default"
                }
            }
            pair.stack.relationships = .strict
            let pets = try pair.stack.read(synchronous: { source in
                try source.fetchAll(From<Person>().prefetch(\.pets)).flatMap { $0.pets.map(\.name) }.sorted()
            })
            check.equal(pets, ["People", "default"], "pets")
        },
        .pairs("G029.identity-over-both", "R2", "People", "Rest") { pair, check in
            try fill(pair)
            let view = pair.stack.makeViewContext()
            let all = try view.fetchAll(From<Song>().orderBy(.ascending(\.title)))
            let again = try view.fetchAll(From<Song>("Rest")) + view.fetchAll(From<Song>("People"))
            check.equal(Set(all), Set(again), "the same instances")
        },
        .pairs("G030.pending-changes-over-both", "W3, X5", "People", "Rest") { pair, check in
            try fill(pair)
            let work = pair.stack.beginUnsafe()
            try work.create(Into<Song>("Rest")).title = "bb"
            let songs = try work.fetchAll(From<Song>().orderBy(.ascending(\.title)))
            check.equal(songs.map(\.title).joined(separator: ","), "a,b,bb,c,d,e,f", "with the new one")
            songs[0].title = "z"
            try work.delete(songs[6])
            let from = From<Song>().orderBy(.ascending(\.title))
            check.equal(try work.fetchAll(from).map(\.title).joined(separator: ","), "b,bb,c,d,e,z", "changed and deleted")
            check.equal(try work.fetchAll(from.offset(1).limit(2)).map(\.title), ["bb", "c"], "cut")
            check.equal(try work.fetchCount(From<Song>().where(\.title > "d")), 2, "counted")
            check.equal(try titles(pair).joined(), "abcdef", "no other reader sees it")
        },
        .pairs("G031.values-of-several-stores", "X5", "People", "Rest") { pair, check in
            try fill(pair)
            check.equal(try pair.stack.queryValue(From<Song>().select(Int.self, .count(\.title))), 6, "counted over both")
            let edges = try pair.stack.queryAttributes(
                From<Song>().where(\.title > "a").select(.minimum(\.title, as: "first"), .maximum(\.title, as: "last")))
            check.equal(edges.map(\.values), [[.string("b"), .string("f")]], "the first and the last")
            let titles = try pair.stack.queryAttributes(
                From<Song>().orderBy(.descending(\.title)).offset(1).limit(3).select(.attribute(\.title)))
            check.equal(titles.map(\.values), [[.string("e")], [.string("d")], [.string("c")]], "in one order, cut")
            check.equal(try pair.stack.queryValue(From<Song>("Rest").select(Int.self, .count(\.title))), 3, "of one")
        },
    ]

    private static let commits: [ConformanceCase] = [
        .pairs("G040.one-commit-over-two-stores", "X2", "People", "Rest") { pair, check in
            guard pair.commitsTogether else {
                check.throwing(.unsupported, "two stores that can both refuse") { try both(pair) }
                check.equal(try titles(pair), [], "no partial commit")
                return
            }
            try both(pair)
            check.equal(try titles(pair), ["p", "r"], "songs")
            try both(pair)
            check.equal(try pair.stack.fetchCount(From<Song>()), 4, "and again")
        },
        .pairs("G041.what-fails-in-one-is-undone-in-both", "X2", nil, "People") { pair, check in
            try pair.needsCommonCommits()
            try pair.stack.write { try $0.create(Into<Person>("People")).email = "taken" }
            check.throwing(.uniqueConstraintViolated, "the second store refuses") {
                try pair.stack.write { transaction in
                    try transaction.create(Into<Person>(nil)).email = "free"
                    try transaction.create(Into<Person>("People")).email = "taken"
                }
            }
            check.throwing(.uniqueConstraintViolated, "so does the other order") {
                try pair.stack.write { transaction in
                    try transaction.create(Into<Person>("People")).email = "taken"
                    try transaction.create(Into<Person>(nil)).email = "free"
                }
            }
            check.equal(try pair.stack.fetchAll(From<Person>()).map(\.email), ["taken"], "emails")
        },
        .pairs("G042.cancel-undoes-both", "X2", "People", "Rest") { pair, check in
            try pair.needsCommonCommits()
            check.throwing(.cancelled, "cancel") {
                try pair.stack.write { transaction in
                    try transaction.create(Into<Song>("People")).title = "p"
                    try transaction.create(Into<Song>("Rest")).title = "r"
                    _ = try transaction.fetchCount(From<Song>())
                    try transaction.cancel()
                }
            }
            check.equal(try titles(pair), [], "songs")
        },
        .pairs("G043.the-order-of-touching-does-not-matter", "X2", "People", "Rest") { pair, check in
            try pair.needsCommonCommits()
            for order in [["People", "Rest"], ["Rest", "People"]] {
                try pair.stack.write { transaction in
                    for name in order {
                        try transaction.create(Into<Song>(name)).title = name
                        _ = try transaction.fetchCount(From<Song>(name))
                    }
                }
            }
            check.equal(try titles(pair), ["People", "People", "Rest", "Rest"], "songs")
        },
        .pairs("G044.a-nested-part-over-both", "W5, X2", "People", "Rest") { pair, check in
            try pair.needsCommonCommits()
            try pair.stack.write { transaction in
                try transaction.create(Into<Song>("People")).title = "kept"
                do {
                    try transaction.nested {
                        try transaction.create(Into<Song>("People")).title = "p"
                        try transaction.create(Into<Song>("Rest")).title = "r"
                        throw ImportRefused()
                    }
                } catch is ImportRefused {}
                try transaction.create(Into<Song>("Rest")).title = "too"
            }
            check.equal(try titles(pair), ["kept", "too"], "songs")
        },
        .pairs("G045.a-deletion-over-both", "X2", "People", "Rest") { pair, check in
            try fill(pair)
            try pair.needsCommonCommits()
            let deleted = try pair.stack.write { try $0.deleteAll(From<Song>().where(\.title >= "c")) }
            check.equal(deleted, 4, "deleted")
            check.equal(try titles(pair), ["a", "b"], "left")
        },
        .pairs("G046.a-detached-commit-over-both", "X2", "People", "Rest") { pair, check in
            try pair.needsCommonCommits()
            let work = pair.stack.beginUnsafe()
            try work.create(Into<Song>("People")).title = "p"
            try work.create(Into<Song>("Rest")).title = "r"
            try work.commit()
            check.equal(try titles(pair), ["p", "r"], "songs")
            for song in try work.fetchAll(From<Song>()) { song.title += "2" }
            try pair.stack.write { try $0.fetchAll(From<Song>("Rest"))[0].title = "other" }
            check.throwing(.staleObject, "one of the two is stale") { try work.commit() }
            check.equal(try titles(pair), ["other", "p"], "neither was written")
        },
        .pairs("G047.one-author-in-both-histories", "H2", "People", "Rest") { pair, check in
            try pair.needsCommonCommits()
            guard [pair.first, pair.second].allSatisfy({ $0.capabilities.contains(.history) }) else {
                throw NothingToCheck("one of the two stores keeps no history")
            }
            try pair.stack.perform(
                author: "ann",
                synchronous: { transaction in
                    try transaction.create(Into<Song>("People")).title = "p"
                    try transaction.create(Into<Song>("Rest")).title = "r"
                })
            for store in [pair.first, pair.second] {
                check.isTrue(try store.entry(by: "ann") != nil, "the author in the history")
            }
        },
        .pairs("G048.reading-both-needs-no-common-commit", "X5", "People", "Rest") { pair, check in
            try fill(pair)
            try pair.stack.write { transaction in
                for song in try transaction.fetchAll(From<Song>("Rest")) { song.title += "!" }
            }
            check.equal(try titles(pair), ["a", "b!", "c", "d!", "e", "f!"], "only one store was written to")
        },
        .pairs("G049.transfers-between-stores-keep-the-sum", "X2", nil, "People") { pair, check in
            try pair.needsCommonCommits()
            for into in [nil, "People"] as [String?] {
                try pair.stack.write { transaction in
                    let account = try transaction.create(Into<Person>(into))
                    account.name = into ?? "default"
                    account.age = 100
                }
            }
            let failures = Failures(), stack = pair.stack
            Threads.run(4) { index in
                for _ in 0..<5 {
                    do {
                        try stack.write { transaction in
                            let a = try person("default", in: transaction), b = try person("People", in: transaction)
                            a.age -= index
                            b.age += index
                        }
                    } catch {
                        failures.add("\(error)")
                    }
                }
            }
            check.equal(failures.all, [], "failures")
            check.equal(try stack.fetchAll(From<Person>().orderBy(.ascending(\.name))).map(\.age), [130, 70], "balances")
        },
    ]

    private static let references: [ConformanceCase] = [
        .pairs("G060.a-reference-into-another-store", "X4", "People", "Rest") { pair, check in
            let ann = try author(pair, "Ann")
            let notes = try pair.stack.fetchAll(From<Note>().where(\.author == ann))
            check.equal(notes.map(\.text), ["by Ann"], "found by their references")
            check.equal(try notes[0].author.flatMap { try pair.stack.fetchExisting($0) }?.name, "Ann", "and refers to it")
        },
        .pairs("G061.nullify-over-stores", "X4", "People", "Rest") { pair, check in
            _ = try author(pair, "Ann")
            let bob = try author(pair, "Bob")
            try pair.needsCommonCommits()
            try pair.stack.write { try $0.delete(person("Ann", in: $0)) }
            let notes = try pair.stack.fetchAll(From<Note>().orderBy(.ascending(\.text)))
            check.equal(notes.map(\.author), [nil, bob], "authors")
        },
        .pairs("G062.cascade-over-stores", "X4", "People", "Rest") { pair, check in
            try song(pair, "s", in: "People")
            let part = try pair.stack.fetchIDs(From<Song>("People"))[0]
            try pair.stack.write { transaction in
                for _ in 0..<2 { try transaction.create(Note.self).part = part }
            }
            try pair.needsCommonCommits()
            let deleted = try pair.stack.write { try $0.delete($0.fetchAll(From<Song>("People"))) }
            check.equal(deleted, 3, "the song and its notes")
            check.equal(try pair.stack.fetchCount(From<Note>()), 0, "notes")
        },
        .pairs("G063.a-deleted-owner-takes-its-part", "X4", "People", "Rest") { pair, check in
            try song(pair, "s", in: "People")
            let part = try pair.stack.fetchIDs(From<Song>("People"))[0]
            try pair.stack.write { try $0.create(Note.self).part = part }
            try pair.needsCommonCommits()
            check.equal(try pair.stack.write { try $0.delete($0.fetchAll(From<Note>())) }, 2, "the note and its song")
            check.equal(try pair.stack.fetchCount(From<Song>()), 0, "songs")
        },
        .pairs("G064.deny-over-stores", "X4", "People", "Rest") { pair, check in
            let club = try pair.stack.write { try $0.create(Club.self).objectID }
            let note = try pair.stack.write { transaction in
                let note = try transaction.create(Note.self)
                note.pinned = club
                return note.objectID
            }
            do {
                try pair.stack.write { try $0.delete($0.fetchAll(From<Club>())) }
                check.isTrue(false, "the deletion is denied")
            } catch let error as StorageError {
                check.equal(error.code, .deleteDenied, "code")
                check.equal(error.details.keys, [note.key.key], "the objects that deny the deletion")
            }
            check.equal(try pair.stack.fetchCount(From<Club>()), 1, "clubs")
        },
        .pairs("G065.check-and-repair", "X4", "People", "Rest") { pair, check in
            let ann = try author(pair, "Ann"), bob = try author(pair, "Bob")
            check.equal(try pair.stack.checkReferences(), [], "before")
            // A program without the second store deletes the person without Polystore's knowledge.
            guard let people = pair.stack.schema.index(of: "Person") else { return check.isTrue(false, "the model has people") }
            let writer = try pair.first.beginWrite(WriteOptions())
            defer { writer.end() }
            try writer.apply(ChangeSet(entities: [EntityChanges(entity: people, deletes: [RowDeletion(key: ann.key.key)])]))
            _ = try writer.commit(CommitRecord())
            let found = try pair.stack.checkReferences()
            check.equal(found.map(\.destination), [ann.key], "missing objects")
            check.equal(found.map(\.isCertain), [true], "for sure")
            try pair.needsCommonCommits()
            check.equal(try pair.stack.checkReferences(repairing: true), found, "repaired")
            check.equal(try pair.stack.checkReferences(), [], "after")
            check.equal(try pair.stack.fetchAll(From<Note>().orderBy(.ascending(\.text))).map(\.author), [nil, bob], "authors")
        },
        .pairs("G066.a-store-that-is-not-there-is-no-proof", "X4", "People", "Rest") { pair, check in
            let ann = try author(pair, "Ann")
            try pair.stack.removeStorage(pair.first)
            check.equal(try pair.stack.checkReferences(repairing: true).map(\.isCertain), [false], "uncertain")
            check.equal(try pair.stack.fetchAll(From<Note>()).map(\.author), [ann], "and left alone")
        },
    ]

    private static func song(_ pair: StorePair, _ title: String, in configuration: String) throws {
        try pair.stack.write { try $0.create(Into<Song>(configuration)).title = title }
    }

    private static func titles(_ pair: StorePair, _ from: From<Song> = From()) throws -> [String] {
        try pair.stack.fetchAll(from.orderBy(.ascending(\.title))).map(\.title)
    }

    /// Creates a, c and e in the first store, and b, d and f in the second.
    private static func fill(_ pair: StorePair) throws {
        for (configuration, titles) in [("People", ["a", "c", "e"]), ("Rest", ["f", "d", "b"])] {
            try pair.stack.write { transaction in
                for title in titles { try transaction.create(Into<Song>(configuration)).title = title }
            }
        }
    }

    private static func both(_ pair: StorePair) throws {
        try pair.stack.write { transaction in
            try transaction.create(Into<Song>("People")).title = "p"
            try transaction.create(Into<Song>("Rest")).title = "r"
        }
    }

    /// Creates a person in the first store with a note in the second.
    private static func author(_ pair: StorePair, _ name: String) throws -> ObjectID<Person> {
        try pair.stack.add(name)
        guard let id = try pair.stack.fetchIDs(From<Person>().where(\.name == name)).first else {
            throw StorageError(.notFound, "no \(name)")
        }
        try pair.stack.write { transaction in
            let note = try transaction.create(Note.self)
            note.text = "by \(name)"
            note.author = id
        }
        return id
    }
}

extension Song: ImportableObject {
    static func shouldInsert(from source: String, in transaction: BaseTransaction) -> Bool { source != "skip" }

    func didInsert(from source: String, in transaction: BaseTransaction) throws {
        if source.isEmpty { throw ImportRefused() }
        title = source
    }
}

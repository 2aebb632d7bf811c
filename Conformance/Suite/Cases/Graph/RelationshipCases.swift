internal import Foundation
internal import Polystore
internal import PolystoreStorage

/// Cases of group R, first part: the destinations of relationships.
enum RelationshipCases {
    static let all: [ConformanceCase] = toOne + toMany + ordered + loading

    private static let toOne: [ConformanceCase] = [
        .graph("R001.to-one-and-its-inverse", "R3") { stack, check in
            try stack.add("Ann", "Bob")
            try stack.write { transaction in
                let ann = try person("Ann", in: transaction), bob = try person("Bob", in: transaction)
                let dog = try transaction.create(Dog.self)
                dog.owner = ann
                check.equal(ann.pets, [dog], "pets of Ann before the commit")
                dog.owner = bob
                check.equal(ann.pets, [], "pets of Ann after the change")
                check.equal(bob.pets, [dog], "pets of Bob")
                dog.owner = nil
                check.equal(bob.pets, [], "pets of Bob after nil")
                dog.owner = ann
            }
            check.equal(try stack.read(synchronous: { try person("Ann", in: $0).pets.count }), 1, "pets after the commit")
        },
        .graph("R003.one-to-one-is-taken-over", "R3") { stack, check in
            try stack.add("Ann", "Bob", "Cid", "Dee")
            try stack.write { transaction in
                try person("Ann", in: transaction).partner = person("Bob", in: transaction)
                try person("Cid", in: transaction).partner = person("Dee", in: transaction)
            }
            try stack.write { try person("Ann", in: $0).partner = person("Dee", in: $0) }
            let partners = try stack.read(synchronous: { source in
                try ["Ann", "Bob", "Cid", "Dee"].map { try person($0, in: source).partner?.name }
            })
            check.equal(partners, ["Dee", nil, nil, "Ann"], "partners")
        },
        .graph("R005.trees-and-cycles", "R3") { stack, check in
            try stack.add("A", "B", "C")
            try stack.write { transaction in
                let a = try person("A", in: transaction), b = try person("B", in: transaction), c = try person("C", in: transaction)
                a.parent = a
                check.equal(a.children, [a], "a cycle of one")
                a.parent = b
                b.parent = a
                check.equal(a.children, [b], "a cycle of two")
                c.parent = b
                a.parent = c
            }
            let chain = try stack.read(synchronous: { source in
                var names = "", current: Person? = try person("A", in: source)
                for _ in 0..<4 {
                    names += current?.name ?? "-"
                    current = current?.parent
                }
                return names
            })
            check.equal(chain, "ACBA", "a cycle of three")
        },
        .graph("R018.one-instance-per-context", "R2") { stack, check in
            try stack.add("Ann")
            try stack.write { transaction in
                let first = try person("Ann", in: transaction), second = try person("Ann", in: transaction)
                check.isTrue(first === second, "the same instance")
                check.isTrue(try transaction.fetchExisting(first.objectID) === first, "by its id too")
            }
            let other = try stack.fetchAll(From<Person>()), another = try stack.fetchAll(From<Person>())
            check.isTrue(other[0] !== another[0], "another instance in another context")
            check.equal(other[0].objectID, another[0].objectID, "one id")
        },
        .graph("R028.ids-are-given-at-creation", "R1") { stack, check in
            let (before, hash) = try stack.write { transaction in
                let ann = try transaction.create(Person.self)
                ann.name = "Ann"
                return (ann.objectID, ann.objectID.hashValue)
            }
            let after = try stack.fetchIDs(From<Person>())
            check.equal(after, [before], "the id after the commit")
            check.equal(after[0].hashValue, hash, "its hash")
            check.equal(ObjectID<Person>(before.description), before, "from its text")
        },
        .graph("R024.objects-of-other-contexts-are-refused", "R2") { stack, check in
            try stack.add("Ann")
            let foreign = try stack.fetchAll(From<Person>())[0]
            check.throwing(.validationFailed, "an object of another context") {
                try stack.write { try $0.create(Dog.self).owner = foreign }
            }
            check.equal(try stack.fetchCount(From<Pet>()), 0, "pets")
        },
    ]

    private static let toMany: [ConformanceCase] = [
        .graph("R002.add-and-remove", "R3") { stack, check in
            try stack.write { transaction in
                let ann = try transaction.create(Person.self), a = try transaction.create(Dog.self), b = try transaction.create(Cat.self)
                ann.name = "Ann"
                ann.pets = [a, b]
                check.isTrue(a.owner === ann && b.owner === ann, "owners")
                ann.pets.remove(a)
                check.isTrue(a.owner == nil, "owner of the removed")
                ann.pets.insert(a)
                ann.pets = [b]
            }
            let kinds = try stack.read(synchronous: { try person("Ann", in: $0).pets.map(\.entityName) })
            check.equal(kinds, ["Cat"], "pets")
        },
        .graph("R003.a-member-changes-its-owner", "R3") { stack, check in
            try stack.add("Ann", "Bob")
            try stack.write { transaction in
                let dog = try transaction.create(Dog.self)
                try person("Ann", in: transaction).pets = [dog]
            }
            try stack.write { transaction in
                let dog = try transaction.fetchAll(From<Dog>())[0]
                try person("Bob", in: transaction).pets = [dog]
                check.equal(try person("Ann", in: transaction).pets.count, 0, "pets of Ann")
                check.equal(dog.owner?.name, "Bob", "owner")
            }
        },
        .graph("R004.many-to-many", "R3") { stack, check in
            try stack.add("Ann", "Bob")
            try stack.write { transaction in
                let club = try transaction.create(Club.self)
                club.name = "Chess"
                let ann = try person("Ann", in: transaction), bob = try person("Bob", in: transaction)
                ann.clubs.insert(club)
                ann.clubs.insert(club)
                club.members.insert(bob)
                check.equal(club.members, [ann, bob], "members before the commit")
                check.equal(bob.clubs, [club], "clubs before the commit")
            }
            try stack.write { transaction in
                let club = try transaction.fetchAll(From<Club>())[0]
                check.equal(Set(club.members.map(\.name)), ["Ann", "Bob"], "members")
                try person("Bob", in: transaction).clubs = []
            }
            check.equal(
                try stack.read(synchronous: { try $0.fetchAll(From<Club>())[0].members.map(\.name) }), ["Ann"], "members afterwards")
        },
        .graph("R030.pairs-of-a-deleted-object-are-gone", "R4, R6") { stack, check in
            try stack.add("Ann")
            try stack.write { transaction in
                let club = try transaction.create(Club.self)
                let ann = try person("Ann", in: transaction)
                ann.clubs = [club]
                ann.songs = [try transaction.create(Song.self), try transaction.create(Song.self)]
            }
            try stack.write { transaction in
                let songs = try transaction.fetchAll(From<Song>())
                try transaction.delete(songs[0])
                check.equal(try person("Ann", in: transaction).songs.count, 1, "songs in the transaction")
            }
            check.equal(try stack.read(synchronous: { try person("Ann", in: $0).songs.count }), 1, "songs")
            try stack.write { transaction in try transaction.delete(try person("Ann", in: transaction)) }
            check.equal(try stack.read(synchronous: { try $0.fetchAll(From<Club>())[0].members.count }), 0, "members")
        },
        .graph("R025.a-graph-of-ten-thousand-in-one-commit", "R3") { stack, check in
            try stack.write { transaction in
                var people: [Person] = []
                for index in 0..<10_000 {
                    let one = try transaction.create(Person.self)
                    one.name = "p\(index)"
                    if index > 0 { one.parent = people[index / 10] }
                    if index % 2 == 1 { one.partner = people[index - 1] }
                    people.append(one)
                }
                people[0].parent = people[9_999]
            }
            check.equal(try stack.fetchCount(From<Person>()), 10_000, "people")
            let counts = try stack.read(synchronous: { source in
                let tenth = try person("p10", in: source)
                return [tenth.children.count, tenth.parent?.name == "p1" ? 1 : 0, tenth.partner?.name == "p11" ? 1 : 0]
            })
            check.equal(counts, [10, 1, 1], "around one of them")
            check.equal(try stack.read(synchronous: { try person("p0", in: $0).parent?.name }), "p9999", "the cycle")
        },
        .graph("R023.members-of-sub-entities", "R10") { stack, check in
            try stack.add("Ann")
            try stack.write { transaction in
                let dog = try transaction.create(Dog.self), cat = try transaction.create(Cat.self)
                dog.tricks = 3
                cat.lives = 7
                try person("Ann", in: transaction).pets = [dog, cat]
            }
            let pets = try stack.read(synchronous: { source in
                try person("Ann", in: source).pets.map { pet in
                    (pet as? Dog).map { "dog \($0.tricks)" } ?? (pet as? Cat).map { "cat \($0.lives)" } ?? "?"
                }.sorted()
            })
            check.equal(pets, ["cat 7", "dog 3"], "pets with their own attributes")
        },
        .graph("R022.abstract-entities-have-no-objects", "R10") { stack, check in
            check.throwing(.invalidConfiguration, "create") { try stack.write { _ = try $0.create(Pet.self) } }
        },
        .graph("R021.a-parent-gives-its-children", "R3") { stack, check in
            try stack.write { transaction in
                try transaction.create(Dog.self).name = "Rex"
                try transaction.create(Cat.self).name = "Tom"
            }
            let all = try stack.fetchAll(From<Pet>().orderBy(.ascending(\.name)))
            check.isTrue(all.count == 2 && all[0] is Dog && all[1] is Cat, "classes")
            check.equal(try stack.fetchCount(From<Pet>().withoutSubentities()), 0, "without sub-entities")
            check.equal(try stack.fetchCount(From<Dog>()), 1, "dogs")
            let id = ObjectID<Dog>(all[1].objectID.key)
            check.isTrue(try stack.fetchExisting(id) == nil, "a cat is no dog")
        },
    ]

    private static let ordered: [ConformanceCase] = [
        .graph("R013.ordered-members", "R5") { stack, check in
            try stack.add("Ann")
            let titles = ["a", "b", "c", "d"]
            try stack.write { transaction in
                let ann = try person("Ann", in: transaction)
                ann.songs = try titles.map { title in
                    let song = try transaction.create(Song.self)
                    song.title = title
                    return song
                }
            }
            func songs() throws -> String { try stack.read(synchronous: { try person("Ann", in: $0).songs.map(\.title).joined() }) }
            check.equal(try songs(), "abcd", "order")
            try stack.write { transaction in
                let ann = try person("Ann", in: transaction)
                ann.songs.insert(ann.songs.remove(at: 3), at: 0)
                ann.songs.swapAt(1, 3)
                check.equal(ann.songs.map(\.title).joined(), "dcba", "order before the commit")
                ann.songs.append(ann.songs[0])
            }
            check.equal(try songs(), "dcba", "a second time is no second member")
            try stack.write { try person("Ann", in: $0).songs.remove(at: 1) }
            check.equal(try songs(), "dba", "order after a removal")
        },
        .graph("R013.a-move-alone-changes-the-order", "R5") { stack, check in
            let squad = try squad(stack, 3)
            for turn in 0..<3 {
                try stack.write { transaction in
                    guard let own = try transaction.edit(squad) else { return }
                    own.players.insert(own.players.removeLast(), at: 0)
                }
                let numbers = try stack.read(synchronous: { try $0.fetchExisting(squad)?.players.map(\.number) ?? [] })
                check.equal(numbers, [[3, 1, 2], [2, 3, 1], [1, 2, 3]][turn], "after \(turn + 1) moves")
            }
        },
        .graph("R014.ten-thousand-ordered-members", "R5") { stack, check in
            try stack.add("Ann")
            try stack.write { transaction in
                let ann = try person("Ann", in: transaction)
                ann.songs = try (0..<10_000).map { number in
                    let song = try transaction.create(Song.self)
                    song.title = String(number)
                    return song
                }
            }
            let before = try ranks(stack)
            try stack.write { transaction in
                let ann = try person("Ann", in: transaction), song = try transaction.create(Song.self)
                song.title = "first"
                ann.songs.insert(song, at: 0)
                ann.songs.insert(ann.songs.remove(at: 10_000), at: 5_000)
            }
            let after = try ranks(stack)
            check.equal(after.count { before[$0.key] != $0.value }, 2, "pairs that were written")
            let titles = try stack.read(synchronous: { try person("Ann", in: $0).songs.map(\.title) })
            check.equal(titles.count, 10_001, "members")
            check.equal(
                [titles[0], titles[1], titles[5_000], titles[5_001], titles[10_000]], ["first", "0", "9999", "4999", "9998"], "places")
        },
        .graph("R013.a-gap-that-is-used-up", "R5") { stack, check in
            try stack.add("Ann")
            var expected = ["first", "last"]
            try stack.write { transaction in
                try person("Ann", in: transaction).songs = try expected.map { title in
                    let song = try transaction.create(Song.self)
                    song.title = title
                    return song
                }
            }
            // Adjacent ranks have a gap of 2^20, which twenty halvings exhaust.
            for number in 0..<25 {
                try stack.write { transaction in
                    let song = try transaction.create(Song.self)
                    song.title = String(number)
                    try person("Ann", in: transaction).songs.insert(song, at: 1)
                }
                expected.insert(String(number), at: 1)
            }
            check.equal(try stack.read(synchronous: { try person("Ann", in: $0).songs.map(\.title) }), expected, "order")
        },
        .graph("R013.an-ordered-inverse", "R5") { stack, check in
            let squad = try squad(stack, 2)
            try stack.write { transaction in
                let third = try transaction.create(Player.self)
                third.number = 9
                third.squad = try transaction.edit(squad)
                check.equal(third.squad?.players.map(\.number), [1, 2, 9], "the last one is last")
            }
            check.equal(
                try stack.read(synchronous: { try $0.fetchExisting(squad)?.players.map(\.number) }), [1, 2, 9], "after the commit")
        },
    ]

    /// Returns the ranks of the songs of the only person, by song, as the store contains them.
    private static func ranks(_ stack: DataStack) throws -> [Int64: Int64] {
        guard let link = stack.schema.links.firstIndex(where: { $0.name == "Person.songs" }) else { return [:] }
        let reader = try OpenStore(opened: stack.storages[0], stack.schema).beginRead()
        defer { reader.end() }
        var ranks: [Int64: Int64] = [:]
        try reader.links(link, side: .owner, keys: nil) { pairs throws(StorageError) in for pair in pairs { ranks[pair.member] = pair.rank }
        }
        return ranks
    }

    private static func squad(_ stack: DataStack, _ players: Int) throws -> ObjectID<Squad> {
        try stack.write { transaction in
            let squad = try transaction.create(Squad.self)
            squad.name = "Red"
            squad.players = try (1...players).map { number in
                let player = try transaction.create(Player.self)
                player.number = number
                return player
            }
            return squad.objectID
        }
    }

    private static func family(_ stack: DataStack) throws {
        try stack.write { transaction in
            for name in ["Ann", "Bob"] {
                let owner = try transaction.create(Person.self)
                owner.name = name
                for number in 1...3 {
                    let dog = try transaction.create(Dog.self)
                    dog.name = "\(name)\(number)"
                    dog.owner = owner
                }
                owner.songs = [try transaction.create(Song.self), try transaction.create(Song.self)]
            }
        }
    }

    private static let loading: [ConformanceCase] = [
        .graph("R020.prefetched-is-what-lazy-gives", "R7") { stack, check in
            try family(stack)
            func pets(_ people: [Person]) -> [[String]] { people.map { $0.pets.map(\.name).sorted() } }
            let from = From<Person>().orderBy(.ascending(\.name))
            let lazy = pets(try stack.fetchAll(from))
            check.equal(lazy, [["Ann1", "Ann2", "Ann3"], ["Bob1", "Bob2", "Bob3"]], "pets")
            check.equal(pets(try stack.fetchAll(from.prefetch(\.pets))), lazy, "prefetched")
        },
        .graph("R020.strict-loading-names-what-was-not-prefetched", "R7") { stack, check in
            try family(stack)
            stack.relationships = .strict
            check.throwing(.unplannedLoad, "a to-many") {
                try stack.read(synchronous: { try $0.fetchAll(From<Person>()).forEach { _ = $0.pets.count } })
            }
            check.throwing(.unplannedLoad, "a to-one") {
                try stack.read(synchronous: { try $0.fetchAll(From<Dog>()).forEach { _ = $0.owner?.name } })
            }
            try stack.read(synchronous: { source in
                let dogs = try source.fetchAll(From<Dog>())
                check.throwing(.unplannedLoad, "a load that throws") { _ = try dogs[0].load(\.owner) }
                check.equal(try dogs[0].load(\.name), "Ann1", "and leaves the rest alone")
            })
            check.throwing(.unplannedLoad, "in a transaction") {
                try stack.write { try $0.fetchAll(From<Dog>()).forEach { $0.name = $0.owner?.name ?? "" } }
            }
            let names = try stack.read(synchronous: { source in
                try source.fetchAll(From<Dog>().prefetch(\.owner)).compactMap { $0.owner?.name }
            })
            check.equal(Set(names), ["Ann", "Bob"], "prefetched")
            let songs = try stack.read(synchronous: { source in
                try source.fetchAll(From<Person>().prefetch(\.songs).prefetch(\.pets)).map { $0.songs.count + $0.pets.count }
            })
            check.equal(songs, [5, 5], "two relationships prefetched")
        },
        .graph("R020.strict-loading-is-reported-outside-of-reads-too", "R7") { stack, check in
            try family(stack)
            stack.relationships = .strict
            let people = try stack.fetchAll(From<Person>()), dogs = try stack.fetchAll(From<Dog>())
            check.equal(people[0].loadError?.code, nil, "before")
            check.isTrue(people[0].pets.isEmpty && dogs[0].owner == nil, "relationships that were not prefetched are empty")
            check.equal(people[1].loadError?.code, .unplannedLoad, "the objects of the fetch say why")
            check.equal(people[1].loadError?.details.property, "pets", "and which")
            check.equal(dogs[0].loadError?.details.property, "owner", "of a to-one")
            check.throwing(.unplannedLoad, "a load that throws") { _ = try people[0].load(\.pets) }
        },
        .graph("R020.a-relationship-that-cannot-be-loaded-is-reported", "R7") { stack, check in
            try family(stack)
            let people = try stack.fetchAll(From<Person>().properties(\.age)), dogs = try stack.fetchAll(From<Dog>())
            let store = stack.storages[0]
            try stack.removeStorage(store)
            check.isTrue(people[0].pets.isEmpty && dogs[0].owner == nil, "relationships that cannot be loaded are empty")
            check.isTrue(people[0].loadError != nil && dogs[0].loadError != nil, "and the objects say why")
            let named = [people[0].loadError?.details, dogs[0].loadError?.details].map { "\($0?.entity ?? "-").\($0?.property ?? "-")" }
            check.equal(named, ["Person.pets", "Dog.owner"], "and of which property")
            check.isTrue((try? people[0].load(\.pets)) == nil, "a to-many that throws")
            check.isTrue((try? dogs[0].load(\.owner)) == nil, "a to-one that throws")
            check.isTrue((try? people[1].load(\.name)) == nil, "an attribute that throws")
            check.isTrue((try? people[1].load(\.name)) == nil, "and throws again")
        },
        .graph("R020.a-relationship-that-cannot-be-loaded-is-reported-by-every-source", "R7") { stack, check in
            try family(stack)
            let view = stack.makeViewContext(), other = stack.makeViewContext(), work = stack.beginUnsafe()
            // The owner of the last dog is not the first person: it has to be loaded.
            let people = From<Person>().orderBy(.ascending(\.name)), dogs = From<Dog>().orderBy(.ascending(\.name))
            let cursors = (try stack.fetchCursor(people.batchSize(1)), try stack.fetchCursor(dogs.batchSize(1)))
            let held: [(String, Person?, Dog?)] = [
                ("a view context", try view.fetchAll(people).first, try view.fetchAll(dogs).last),
                ("a detached transaction", try work.fetchAll(people).first, try work.fetchAll(dogs).last),
                ("a page", try stack.fetchPage(people.limit(1)).objects.first, try stack.fetchPage(dogs.limit(1)).objects.first),
                ("a page of a view", try other.fetchPage(people.limit(1)).objects.first, try other.fetchPage(dogs.limit(6)).objects.last),
                ("a cursor", try cursors.0.next(), try cursors.1.next()),
            ]
            cursors.0.close()
            cursors.1.close()
            try stack.removeStorage(stack.storages[0])
            for (source, person, dog) in held {
                guard let person, let dog else { return check.isTrue(false, "\(source) has no objects") }
                check.equal([person.loadError?.code, dog.loadError?.code], [nil, nil], "\(source): before")
                check.isTrue((try? person.load(\.songs)) == nil, "\(source): a to-many that throws")
                check.isTrue((try? dog.load(\.owner)) == nil, "\(source): a to-one that throws")
                check.equal([person.loadError?.code, dog.loadError?.code], [nil, nil], "\(source): what was thrown is not kept")
                check.isTrue(person.songs.isEmpty, "\(source): a to-many that cannot be loaded is empty")
                check.isTrue(person.loadError != nil, "\(source): the to-many says why")
                check.isTrue(dog.owner == nil, "\(source): a to-one that cannot be loaded is nil")
                check.isTrue(dog.loadError != nil, "\(source): the to-one says why")
            }
            check.isTrue(view.loadError != nil && other.loadError != nil, "the view contexts say why")
        },
        .graph("R020.paths-that-begin-alike-are-prefetched-whole", "R7") { stack, check in
            try family(stack)
            try stack.write { transaction in
                for person in try transaction.fetchAll(From<Person>()) {
                    let club = try transaction.create(Club.self)
                    club.name = person.name + "'s"
                    person.clubs = [club]
                    person.parent = try transaction.fetchOne(From<Person>().where(\.name != person.name))
                }
            }
            stack.relationships = .strict
            let by: [(String, From<Person>)] = [
                ("children, then their pets", From<Person>().prefetch(named: ["children", "children.pets"])),
                ("children, then their clubs", From<Person>().prefetch(named: ["children", "children.clubs"])),
                ("the longer first", From<Person>().prefetch(named: ["children.clubs", "children.pets", "children"])),
                ("clubs, then their members", From<Person>().prefetch(named: ["clubs", "clubs.members", "children"])),
            ]
            for (name, from) in by {
                let people = try stack.fetchAll(from)
                for person in people {
                    check.equal(person.children.count, 1, "\(name): children")
                    for child in person.children {
                        if name.hasSuffix("pets") { check.equal(child.pets.count, 3, "\(name): pets") }
                        if name.hasSuffix("their clubs") { check.equal(child.clubs.count, 1, "\(name): clubs") }
                        if name.hasSuffix("first") { check.equal(child.pets.count + child.clubs.count, 4, "\(name): both") }
                    }
                    if name.hasSuffix("members") { check.equal(person.clubs.flatMap(\.members).count, 1, "\(name): members") }
                }
                check.equal(people[0].loadError?.message, nil, name)
            }
        },
        .graph("R019.a-deleted-row-is-seen-as-deleted", "R7") { stack, check in
            try family(stack)
            let view = stack.makeViewContext()
            let dog = try view.fetchAll(From<Dog>())[0]
            check.isTrue(!dog.isDeleted, "before")
            try stack.write { try $0.delete(dog) }
            try view.merge()
            check.isTrue(dog.isDeleted, "after the merge")
        },
        .graph("R026.refresh-keeps-what-was-assigned-here", "W19") { stack, check in
            try stack.add("Ann", "Bob")
            let work = stack.beginUnsafe()
            let ann = try person("Ann", in: work), bob = try person("Bob", in: work)
            ann.age = 30
            try stack.write { transaction in
                try person("Ann", in: transaction).age = 50
                try person("Bob", in: transaction).age = 60
            }
            try work.refresh()
            check.equal([ann.age, bob.age], [30, 60], "ages")
        },
        .graph("R027.undo-restores-relationships", "W19") { stack, check in
            try family(stack)
            let work = stack.beginUnsafe(supportsUndo: true)
            let ann = try person("Ann", in: work), bob = try person("Bob", in: work)
            try work.markUndoPoint()
            for dog in ann.pets { dog.owner = bob }
            check.equal([ann.pets.count, bob.pets.count], [0, 6], "moved")
            check.isTrue(try work.undo(), "undone")
            check.equal([ann.pets.count, bob.pets.count], [3, 3], "back")
            check.isTrue(try work.redo(), "redone")
            check.equal([ann.pets.count, bob.pets.count], [0, 6], "moved again")
            try work.rollback()
            check.equal([ann.pets.count, bob.pets.count], [3, 3], "given up")
        },
        .graph("R034.inverses-after-random-edits", "R3") { stack, check in
            var random = SplitMix(seed: RandomCases.seed)
            try stack.add("A", "B", "C", "D")
            try stack.write { transaction in
                let people = try transaction.fetchAll(From<Person>())
                let pets = try (0..<6).map { _ in try transaction.create(Dog.self) }
                let clubs = try (0..<3).map { _ in try transaction.create(Club.self) }
                for _ in 0..<300 {
                    let one = people[Int(random.next() % 4)], other = people[Int(random.next() % 4)]
                    switch random.next() % 6 {
                    case 0: one.partner = random.next() % 4 == 0 ? nil : other
                    case 1: one.parent = random.next() % 4 == 0 ? nil : other
                    case 2: pets[Int(random.next() % 6)].owner = one
                    case 3: one.pets = Set(pets.filter { _ in random.next() % 3 == 0 })
                    case 4: one.clubs.formSymmetricDifference([clubs[Int(random.next() % 3)]])
                    default: clubs[Int(random.next() % 3)].members.formSymmetricDifference([other])
                    }
                }
            }
            try stack.read(synchronous: { source in
                let people = try source.fetchAll(From<Person>()), pets = try source.fetchAll(From<Pet>())
                for one in people {
                    check.isTrue(one.partner.map { $0.partner === one } ?? true, "partner of the partner")
                    check.equal(one.pets, Set(pets.filter { $0.owner === one }), "pets of \(one.name)")
                    check.equal(one.children, Set(people.filter { $0.parent === one }), "children of \(one.name)")
                    for club in one.clubs { check.isTrue(club.members.contains(one), "member of its club") }
                }
            })
        },
    ]
}

internal import Polystore
internal import PolystoreStorage

/// Cases of groups L and E, further part: conflicts of detached transactions when they commit.
enum DetachedCases: NumberedCases {
    static let all: [ConformanceCase] =
        destinations + deletions + inverses + order + added + seen + referring + elsewhere + serial + randomSerial + lists + boxes
        + keptBoxes + partners + strict + rules + failures

    private static let destinations: [ConformanceCase] = [
        .graph("L017.a-reference-to-an-object-that-was-deleted-since", "R8, W20") { stack, check in
            for policy in [MergePolicy.mine, .theirs] {
                try reset(stack)
                try stack.add("Ann")
                try stack.write { try $0.create(Dog.self).name = "Rex" }
                let work = stack.beginUnsafe(), ann = try person("Ann", in: work), rex = try dog("Rex", in: work)
                let new = try work.create(Dog.self)
                (new.name, new.owner, rex.owner) = ("New", ann, ann)
                try stack.write { try $0.delete(person("Ann", in: $0)) }
                try stale([ann], check) { try work.commit() }
                try stale([ann], check) { try work.commit(validatesReads: true) }
                check.equal(try stack.fetchAll(From<Dog>()).map(\.name), ["Rex"], "nothing was written")
                try work.commit(merging: policy)
                check.isTrue(rex.owner == nil && new.owner == nil && ann.isDeleted, "in memory, with \(policy)")
                check.equal(try stack.fetchCount(From<Pet>().where(\.owner == nil)), 2, "pets without an owner, with \(policy)")
            }
        },
        .graph("L017.a-pair-with-an-object-that-was-deleted-since", "R8, W20") { stack, check in
            for isOwnerGone in [true, false] {
                try reset(stack)
                try stack.add("Ann")
                try stack.write { transaction in
                    _ = try transaction.create(Club.self)
                    _ = try transaction.create(Song.self)
                }
                let work = stack.beginUnsafe(), ann = try person("Ann", in: work)
                let club = try work.fetchAll(From<Club>())[0], song = try work.fetchAll(From<Song>())[0]
                (ann.clubs, ann.songs) = ([club], [song])
                try stack.write { transaction in
                    if isOwnerGone { return try transaction.delete(person("Ann", in: transaction)) }
                    try transaction.delete(transaction.fetchAll(From<Club>())[0], transaction.fetchAll(From<Song>())[0])
                }
                try stale(isOwnerGone ? [ann] : [club, song], check) { try work.commit() }
                try work.commit(merging: .mine)
                check.isTrue(isOwnerGone || ann.clubs.isEmpty && ann.songs.isEmpty, "no related objects remain")
                check.isTrue(!isOwnerGone || club.members.isEmpty, "nor to come from")
            }
        },
        .graph("L017.a-required-reference-to-an-object-that-was-deleted-since", "R8, W20") { stack, check in
            try makeSquads(stack, ["Red": [1], "Blue": [2, 3]])
            let work = stack.beginUnsafe(), red = try squad("Red", in: work), player = try player(3, in: work)
            player.squad = red
            try stack.write { try $0.delete(squad("Red", in: $0)) }
            try stale([red], check) { try work.commit() }
            check.throwing(.validationFailed, "a player needs a squad") { try work.commit(merging: .mine) }
            check.equal(try squads(stack), ["Blue": [2, 3]], "stored values")
            player.squad = try squad("Blue", in: work)
            try work.commit()
            check.equal(try squads(stack), ["Blue": [2, 3]], "stored values after the correction")
        },
    ]

    private static let deletions: [ConformanceCase] = [
        .graph("L018.what-refers-to-a-deleted-object-since", "R8, W20") { stack, check in
            for (policy, names) in [(MergePolicy.mine, [String]()), (.theirs, ["Ann", "Rex"])] {
                try reset(stack)
                try stack.add("Ann")
                let work = stack.beginUnsafe(), ann = try person("Ann", in: work)
                try work.delete(ann)
                try stack.write { transaction in
                    let rex = try transaction.create(Dog.self)
                    (rex.name, rex.owner) = ("Rex", try person("Ann", in: transaction))
                }
                try stale([ann], check) { try work.commit() }
                try work.commit(merging: policy)
                let left = try stack.fetchAll(From<Person>()).map(\.name) + stack.fetchAll(From<Dog>()).map(\.name)
                check.equal(left, names, "remaining objects with \(policy) and cascading deletions")
                check.equal(ann.isDeleted, names.isEmpty, "in memory")
                check.equal(names.isEmpty ? [] : ann.pets.map(\.name), Array(names.dropFirst()), "its related objects")
            }
        },
        .graph("L018.a-denial-that-came-since", "R8, W20") { stack, check in
            try stack.add("Ann")
            try stack.write { try $0.create(Club.self).name = "chess" }
            let work = stack.beginUnsafe(), club = try work.fetchAll(From<Club>())[0]
            try work.delete(club)
            try stack.write { try person("Ann", in: $0).clubs = [$0.fetchAll(From<Club>())[0]] }
            try stale([club], check) { try work.commit() }
            check.throwing(.deleteDenied, "the club has a member") { try work.commit(merging: .mine) }
            check.equal(try stack.fetchAll(From<Club>()).map(\.members.count), [1], "members")
            check.isTrue(club.isDeleted && work.hasChanges, "the deletion is still pending")
            try work.commit(merging: .theirs)
            check.equal(club.members.map(\.name), ["Ann"], "the club exists again")
            check.equal(try stack.fetchAll(From<Club>()).map(\.members.count), [1], "members")
            try stack.write { try person("Ann", in: $0).clubs = [] }
            try work.refresh()
            try work.delete(club)
            try work.commit()
            check.equal(try stack.fetchCount(From<Club>()), 0, "clubs")
        },
    ]

    private static let inverses: [ConformanceCase] = [
        .graph("L019.one-to-one-with-mine", "W20") { stack, check in
            try contendForBob(stack, .mine)
            check.equal(try partners(stack), ["Ann": "Bob", "Bob": "Ann", "Cid": "-", "Dan": "-"], "partners")
        },
        .graph("L019.one-to-one-with-theirs", "W20") { stack, check in
            try contendForBob(stack, .theirs)
            check.equal(try partners(stack), ["Ann": "-", "Bob": "Cid", "Cid": "Bob", "Dan": "-"], "partners")
        },
        .graph("L019.one-to-one-by-attribute", "W20") { stack, check in
            for choosesMine in [true, false] {
                try reset(stack)
                try contendForBob(stack, .byAttribute { _, _, _, mine, theirs in choosesMine ? mine : theirs })
                let found = try partners(stack), expected = choosesMine ? ["Ann", "Bob"] : ["Bob", "Cid"]
                check.equal(found.filter { $0.value != "-" }.keys.sorted(), expected, "those that have a partner")
                check.isTrue(found.allSatisfy { $0.value == "-" || found[$0.value] == $0.key }, "of each other")
            }
        },
        .graph("L019.an-ordered-to-many-and-its-inverse", "W20") { stack, check in
            let policies: [(MergePolicy, [String: [Int]])] = [
                (.mine, ["Blue": [2, 3, 1], "Gray": [4, 5], "Red": [6]]), (.theirs, ["Blue": [2, 3], "Gray": [4, 5, 1], "Red": [6]]),
            ]
            for (policy, expected) in policies {
                try reset(stack)
                try makeSquads(stack, ["Blue": [2, 3], "Gray": [4, 5], "Red": [6, 1]])
                let work = stack.beginUnsafe(), blue = try squad("Blue", in: work), one = try player(1, in: work)
                blue.players.append(one)
                try stack.write { try squad("Gray", in: $0).players.append(player(1, in: $0)) }
                try stale([one], check) { try work.commit() }
                try work.commit(merging: policy)
                check.equal(try squads(stack), expected, "the squads with \(policy)")
                check.equal(blue.players.map(\.number), expected["Blue"], "in memory with \(policy)")
                check.isTrue(one.squad?.players.contains(one) == true, "its squad has it")
            }
        },
        .graph("L019.random-pairs-of-transactions", "W20") { stack, check in
            var random = SplitMix(seed: RandomCases.seed)
            try stack.add("A", "B", "C", "D", "E")
            try makeSquads(stack, ["Blue": [1, 2], "Gray": [3, 4], "Red": [5, 6]])
            try stack.write { transaction in for name in ["chess", "tennis"] { try transaction.create(Club.self).name = name } }
            for round in 0..<40 {
                let work = stack.beginUnsafe()
                let mine = try Objects(work)
                try mine.edit(work, &random)
                do {
                    try stack.write { transaction in try Objects(transaction).edit(transaction, &random) }
                } catch let error as StorageError where error.code == .validationFailed {
                    // The change would leave a squad without players.
                }
                let policies: [MergePolicy] = [.mine, .theirs, .byAttribute { _, _, _, mine, theirs in round % 4 < 2 ? mine : theirs }]
                do { try work.commit(merging: policies[round % 3]) } catch let error as StorageError {
                    check.isTrue(
                        [.validationFailed, .staleObject, .deleteDenied].contains(error.code), "round \(round): \(error)")
                }
                for store in stack.storages { try Integrity.check(store, stack.schema, check) }
                try stack.read(synchronous: { source in try Objects(source).check(check, "round \(round)") })
            }
        },
    ]

    private static let order: [ConformanceCase] = [
        .graph("L020.a-new-order-of-the-members-that-are-left", "W20") { stack, check in
            let titles = ["a", "b", "c", "d"]
            for gone in titles {
                try reset(stack)
                try makeSongs(stack, titles)
                let work = stack.beginUnsafe(), ann = try person("Ann", in: work)
                ann.songs = ann.songs.reversed()
                try stack.write { try person("Ann", in: $0).songs.removeAll { $0.title == gone } }
                try work.commit()
                let expected = titles.reversed().filter { $0 != gone }
                check.equal(try songs(stack), expected, "songs without \(gone)")
                try work.refresh()
                check.equal(ann.songs.map(\.title), expected, "in memory")
            }
        },
        .graph("L020.a-new-order-for-an-object-that-was-deleted-since", "W20") { stack, check in
            try makeSongs(stack, ["a", "b", "c"])
            let work = stack.beginUnsafe(), ann = try person("Ann", in: work)
            ann.songs = ann.songs.reversed()
            try stack.write { try $0.delete(person("Ann", in: $0)) }
            try stale([ann], check) { try work.commit() }
        },
        .graph("L020.a-new-order-of-members-that-moved-since", "W20") { stack, check in
            for moved in 1...3 {
                try reset(stack)
                try makeSquads(stack, ["Blue": [1, 2, 3], "Red": [4]])
                let work = stack.beginUnsafe(), blue = try squad("Blue", in: work)
                blue.players = blue.players.reversed()
                try stack.write { try player(moved, in: $0).squad = squad("Red", in: $0) }
                try work.commit()
                check.equal(try squads(stack), ["Blue": [3, 2, 1].filter { $0 != moved }, "Red": [4, moved]], "squads without \(moved)")
            }
        },
    ]

    private static let added: [ConformanceCase] = [
        .graph("L031.what-is-added-and-removed-again-changes-nothing", "W20") { stack, check in
            try stack.add("Ann")
            try stack.write { try $0.create(Club.self).name = "Go" }
            let work = stack.beginUnsafe(), ann = try person("Ann", in: work), club = try work.fetchAll(From<Club>())[0]
            ann.clubs = [club]
            ann.clubs = []
            try stack.write { try person("Ann", in: $0).clubs = Set($0.fetchAll(From<Club>())) }
            try work.commit()
            func members() throws -> Int { try stack.read(synchronous: { try $0.fetchAll(From<Club>())[0].members.count }) }
            check.equal(try members(), 1, "the pair that another transaction has added")
            let next = stack.beginUnsafe(), again = try person("Ann", in: next), joined = try next.fetchAll(From<Club>())[0]
            again.clubs = []
            again.clubs = [joined]
            again.clubs = []
            try next.commit()
            check.equal(try members(), 0, "a pair that existed, was added again and removed")
        }
    ]

    private static let rules: [ConformanceCase] = [
        .graph("L021.what-a-policy-makes-is-checked-by-the-rules", "W13") { stack, check in
            try makeSquads(stack, ["Red": [1]])
            try stack.write { try $0.create(Note.self).text = "old" }
            func meet(_ mine: String, _ rank: Int, _ chosen: Value) throws -> UnsafeTransaction {
                let work = stack.beginUnsafe()
                try work.fetchAll(From<Note>())[0].text = mine
                try squad("Red", in: work).rank = rank
                try stack.write { transaction in
                    try transaction.fetchAll(From<Note>())[0].text += "!"
                    try squad("Red", in: transaction).rank += 1
                }
                return work
            }
            let high = try meet("new", 3, .null)
            check.throwing(.validationFailed, "a rank above its greatest") {
                try high.commit(merging: .byAttribute { _, name, _, mine, _ in name == "rank" ? .int(1000) : mine })
            }
            check.equal(try squad("Red", in: high).rank, 3, "what was assigned remains")
            check.equal(try high.fetchAll(From<Note>()).map(\.text), ["new"], "also in other objects")
            try squad("Red", in: high).rank = 5
            try high.commit(merging: .mine)
            check.equal(try stack.fetchAll(From<Squad>()).map(\.rank), [5], "rank")
            let bad = try meet("new", 3, .null)
            check.throwing(.validationFailed, "failures of its validation") {
                try bad.commit(merging: .byAttribute { _, name, _, mine, _ in name == "text" ? .string("bad") : mine })
            }
            check.equal(try stack.fetchAll(From<Note>()).map(\.text), ["new!"], "nothing was written")
            let spaced = try meet("new", 3, .null)
            try spaced.commit(merging: .byAttribute { _, name, _, mine, _ in name == "text" ? .string(" spaced") : mine })
            check.equal(try stack.fetchAll(From<Note>()).map(\.text), ["spaced"], "prepared for the commit")
        }
    ]

    private static let failures: [ConformanceCase] = [
        .graph("E019.a-remembered-error-is-thrown-once", "W9") { stack, check in
            try stack.add("Ann")
            let work = stack.beginUnsafe(), ann = try person("Ann", in: work)
            (ann.age, ann.name) = (7, "Ann\0")
            check.throwing(.valueNotStorable, "a value that no store supports") { try work.commit() }
            ann.name = "Anna"
            try work.commit()
            check.equal(try stack.fetchAll(From<Person>()).map { "\($0.name) \($0.age)" }, ["Anna 7"], "corrected and committed")
            let new = try work.create(Person.self)
            try work.rollback()
            new.name = "Bob"
            ann.age = 8
            check.throwing(.readOnly, "an assignment to an object whose creation was rolled back") { try work.commit() }
            try work.commit()
            check.equal(try stack.fetchAll(From<Person>()).map { "\($0.name) \($0.age)" }, ["Anna 8"], "the rest")
        },
        .graph("E020.undo-after-an-undo-and-new-changes", "W19") { stack, check in
            try stack.add("Ann")
            let work = stack.beginUnsafe(supportsUndo: true), ann = try person("Ann", in: work)
            ann.age = 1
            check.isTrue(try work.undo(), "to the beginning")
            check.isTrue(try !work.undo(), "which is the earliest state")
            ann.age = 2
            check.isTrue(try !work.redo(), "new changes end redo")
            check.equal(ann.age, 2, "and are kept")
            check.isTrue(try work.undo(), "to the beginning once more")
            check.isTrue(ann.age == 0 && !work.hasChanges, "which has no changes")
            check.isTrue(try work.redo(), "the last undone change")
            check.equal(ann.age, 2, "age")
            ann.age = 3
            check.isTrue(try work.undo(), "up to the redone change")
            check.equal(ann.age, 2, "age after another change")
            check.isTrue(try work.undo(), "to the beginning")
            check.equal(ann.age, 0, "age at the beginning")
        },
    ]

    // MARK: Parts

    static func reset(_ stack: DataStack) throws {
        try stack.write { transaction in
            for club in try transaction.fetchAll(From<Club>()) { club.members = [] }
            try transaction.delete(transaction.fetchAll(From<Club>()))
            try transaction.delete(transaction.fetchAll(From<Person>()))
            try transaction.delete(transaction.fetchAll(From<Pet>()))
            try transaction.delete(transaction.fetchAll(From<Song>()))
            try transaction.delete(transaction.fetchAll(From<Squad>()))
        }
    }

    /// Checks that a commit reports conflicts of exactly these objects.
    static func stale(_ objects: [ManagedObject], _ check: Check, _ commit: () throws -> Void) throws {
        do {
            try commit()
            check.isTrue(false, "the commit should be stale")
        } catch let error as StorageError {
            check.equal(error.code, .staleObject, "code")
            check.equal(error.details.keys.sorted(), objects.map(\._key).sorted(), "keys")
            check.equal(error.details.conflicts.map(\.key).sorted(), objects.map(\._key).sorted(), "keys of the conflicts")
        }
    }

    static func dog(_ name: String, in source: some FetchSource) throws -> Dog {
        guard let dog = try source.fetchOne(From<Dog>().where(\.name == name)) else { throw StorageError(.notFound, "no dog \(name)") }
        return dog
    }

    static func squad(_ name: String, in source: some FetchSource) throws -> Squad {
        guard let squad = try source.fetchOne(From<Squad>().where(\.name == name)) else {
            throw StorageError(.notFound, "no squad \(name)")
        }
        return squad
    }

    static func player(_ number: Int, in source: some FetchSource) throws -> Player {
        guard let player = try source.fetchOne(From<Player>().where(\.number == number)) else {
            throw StorageError(.notFound, "no player \(number)")
        }
        return player
    }

    static func makeSquads(_ stack: DataStack, _ squads: [String: [Int]]) throws {
        try stack.write { transaction in
            for (name, numbers) in squads {
                let squad = try transaction.create(Squad.self)
                squad.name = name
                for number in numbers {
                    let player = try transaction.create(Player.self)
                    (player.number, player.squad) = (number, squad)
                }
            }
        }
    }

    /// Returns the numbers of each squad's players in order, negative for a player whose own relationship does not refer to the squad.
    static func squads(_ stack: DataStack) throws -> [String: [Int]] {
        try stack.read(synchronous: { source in
            Dictionary(
                try source.fetchAll(From<Squad>()).map { squad in
                    (squad.name, squad.players.map { $0.squad == squad ? $0.number : -$0.number })
                }
            ) { first, _ in first }
        })
    }

    private static func makeSongs(_ stack: DataStack, _ titles: [String]) throws {
        try stack.add("Ann")
        try stack.write { transaction in
            try person("Ann", in: transaction).songs = titles.map { title in
                let song = try transaction.create(Song.self)
                song.title = title
                return song
            }
        }
    }

    private static func songs(_ stack: DataStack) throws -> [String] {
        try stack.read(synchronous: { try person("Ann", in: $0).songs.map(\.title) })
    }

    /// Changes Ann's partner from Dan to Bob, while Cid takes Bob before Ann's change is committed.
    private static func contendForBob(_ stack: DataStack, _ policy: MergePolicy) throws {
        try stack.add("Ann", "Bob", "Cid", "Dan")
        try stack.write { try person("Ann", in: $0).partner = person("Dan", in: $0) }
        let work = stack.beginUnsafe()
        let people = try work.fetchAll(From<Person>().orderBy(.ascending(\.name)))
        people[0].partner = people[1]
        try stack.write { try person("Cid", in: $0).partner = person("Bob", in: $0) }
        try work.commit(merging: policy)
        for one in people { if let other = one.partner, other.partner != one { throw StorageError(.corrupted, "one-sided in memory") } }
    }

    static func partners(_ stack: DataStack) throws -> [String: String] {
        try stack.read(synchronous: { source in
            Dictionary(try source.fetchAll(From<Person>()).map { ($0.name, $0.partner?.name ?? "-") }) { first, _ in first }
        })
    }

    /// The objects to change at random.
    private struct Objects {
        let people: [Person]
        let squads: [Squad]
        let players: [Player]
        let clubs: [Club]

        init(_ source: some FetchSource) throws {
            people = try source.fetchAll(From<Person>())
            squads = try source.fetchAll(From<Squad>())
            players = try source.fetchAll(From<Player>())
            clubs = try source.fetchAll(From<Club>())
        }

        func edit(_ transaction: BaseTransaction, _ random: inout SplitMix) throws {
            func any<Element>(_ elements: [Element]) -> Element { elements[Int(random.next() % UInt64(elements.count))] }
            for _ in 0..<3 {
                let one = any(people), other = any(people)
                if one.isDeleted || other.isDeleted { continue }
                switch random.next() % 11 {
                case 0, 1: one.partner = one == other ? nil : other
                case 2: any(squads).rank = Int(random.next() % 10) + 1
                case 3: if let first = any(squads).players.first { first.squad = any(squads) }
                case 4:
                    let squad = any(squads)
                    squad.players = squad.players.reversed()
                case 5: try transaction.create(Dog.self).owner = one
                case 6: one.parent = other
                case 7:
                    let club = any(clubs)
                    if !club.isDeleted { one.clubs.formSymmetricDifference([club]) }
                case 8:
                    // The deletion is denied if the club has members.
                    if (try? transaction.delete(any(clubs))) != nil { try transaction.create(Club.self).name = "new" }
                case 9:
                    let player = any(players)
                    if players.count > 3, !player.isDeleted {
                        if random.next() % 2 == 0 { player.squad = any(squads) }
                        try transaction.delete(player)
                    }
                    if let squad = squads.first(where: { $0.players.count < 3 }) { try transaction.create(Player.self).squad = squad }
                default:
                    if people.count(where: { !$0.isDeleted }) < 4 { continue }
                    one.children = []
                    try transaction.delete(one)
                    try transaction.create(Person.self).name = "new"
                }
            }
        }

        func check(_ check: Check, _ label: String) {
            for person in people {
                if let partner = person.partner { check.isTrue(partner.partner == person, "\(label): a partner on both sides") }
            }
            for club in clubs { check.isTrue(club.members.allSatisfy { $0.clubs.contains(club) }, "\(label): a member on both sides") }
            for player in players {
                let lists = squads.filter { $0.players.contains(player) }
                check.isTrue(lists == [player.squad], "\(label): a player is in the list of its squad, and in no other")
            }
        }
    }
}

internal import Foundation
internal import Polystore
internal import PolystoreStorage

/// Cases of group R, second part: delete rules, required relationships, limits on the number of members, and checks at commit.
enum DeletionCases {
    static let all: [ConformanceCase] = deletion + limits

    private static let deletion: [ConformanceCase] = [
        .graph("R006.nullify", "R4") { stack, check in
            try stack.write { transaction in
                let ann = try transaction.create(Person.self), bob = try transaction.create(Person.self)
                ann.name = "Ann"
                bob.name = "Bob"
                ann.partner = bob
            }
            try stack.write { try $0.delete(person("Ann", in: $0)) }
            check.isTrue(try stack.read(synchronous: { try person("Bob", in: $0).partner == nil }), "partner")
        },
        .graph("R007.cascade-a-thousand-deep", "R4") { stack, check in
            try stack.write { transaction in
                var above: Person?
                for number in 0..<1_000 {
                    let one = try transaction.create(Person.self)
                    one.name = "p\(number)"
                    one.parent = above
                    above = one
                }
            }
            let deleted = try stack.write { try $0.delete([person("p0", in: $0)]) }
            check.equal(deleted, 1_000, "deleted")
            check.equal(try stack.fetchCount(From<Person>()), 0, "left")
        },
        .graph("R007.what-two-ways-lead-to-is-deleted-once", "R4") { stack, check in
            try stack.write { transaction in
                let top = try transaction.create(Person.self), left = try transaction.create(Person.self)
                let dog = try transaction.create(Dog.self)
                top.name = "top"
                left.parent = top
                top.pets = [dog]
                left.parent = top
            }
            let deleted = try stack.write { transaction in
                let people = try transaction.fetchAll(From<Person>())
                return try transaction.delete(people)
            }
            check.equal(deleted, 3, "two people, both named, and a dog")
        },
        .graph("R007.cycles-end", "R4") { stack, check in
            try stack.write { transaction in
                let a = try transaction.create(Person.self), b = try transaction.create(Person.self)
                a.parent = b
                b.parent = a
            }
            check.equal(try stack.write { try $0.delete([$0.fetchAll(From<Person>())[0]]) }, 2, "deleted")
        },
        .graph("R012.cascade-to-what-is-not-loaded", "R4") { stack, check in
            let id = try stack.write { transaction in
                let ann = try transaction.create(Person.self)
                for _ in 0..<5 { try transaction.create(Dog.self).owner = ann }
                return ann.objectID
            }
            try stack.write { transaction in if let ann = try transaction.edit(id) { try transaction.delete(ann) } }
            check.equal(try stack.fetchCount(From<Pet>()), 0, "pets")
        },
        .graph("R008.deny", "R4") { stack, check in
            try stack.add("Ann")
            try stack.write { transaction in
                let club = try transaction.create(Club.self)
                club.members = [try person("Ann", in: transaction)]
            }
            let ann = try stack.fetchIDs(From<Person>())[0]
            do {
                try stack.write { try $0.delete($0.fetchAll(From<Club>())[0]) }
                check.isTrue(false, "the deletion is denied")
            } catch let error as StorageError {
                check.equal(error.code, .deleteDenied, "code")
                check.equal(error.details.keys, [ann.key.key], "the objects that deny the deletion")
                check.equal(error.details.failures.map(\.property), ["members"], "by which relationship")
            }
            check.equal(try stack.fetchCount(From<Club>()), 1, "clubs")
            try stack.write { transaction in
                let club = try transaction.fetchAll(From<Club>())[0]
                club.members = []
                try transaction.delete(club)
            }
            check.equal(try stack.fetchCount(From<Club>()), 0, "without members")
        },
        .graph("R010.a-denial-undoes-the-cascade", "R4") { stack, check in
            try stack.add("Ann")
            try stack.write { transaction in
                let ann = try person("Ann", in: transaction)
                ann.pets = [try transaction.create(Dog.self)]
                try transaction.create(Club.self).members = [ann]
            }
            check.throwing(.deleteDenied, "the owner and the club") {
                try stack.write { transaction in
                    let dog = try transaction.fetchAll(From<Dog>())[0], club = try transaction.fetchAll(From<Club>())[0]
                    try transaction.delete(dog, club)
                }
            }
            check.equal(try stack.fetchCount(From<Dog>()), 1, "dogs")
            check.equal(
                try stack.write { transaction in
                    try transaction.delete(
                        [
                            person("Ann", in: transaction), transaction.fetchAll(From<Club>())[0],
                        ] as [ManagedObject])
                }, 3, "deleted together, nothing denies it")
        },
        .graph("R011.cascade-to-what-is-deleted-already", "R4") { stack, check in
            try stack.write { transaction in
                let ann = try transaction.create(Person.self), dog = try transaction.create(Dog.self)
                ann.pets = [dog]
            }
            try stack.write { transaction in
                let dog = try transaction.fetchAll(From<Dog>())[0]
                try transaction.delete(dog)
                try transaction.delete(dog)
                check.equal(try transaction.delete(transaction.fetchAll(From<Person>())), 1, "people")
            }
            check.equal(try stack.fetchCount(From<Pet>()), 0, "pets")
        },
        .graph("R017.deleted-elsewhere", "R7") { stack, check in
            try stack.write { transaction in
                let ann = try transaction.create(Person.self)
                ann.pets = [try transaction.create(Dog.self)]
            }
            let view = stack.makeViewContext()
            let ann = try view.fetchAll(From<Person>())[0]
            check.equal(ann.pets.count, 1, "pets before")
            try stack.write { try $0.delete($0.fetchAll(From<Dog>())) }
            try view.merge()
            check.equal(ann.pets.count, 0, "pets after")
            check.isTrue(!ann.isDeleted, "the other is untouched")
        },
        ConformanceCase("R035.a-reference-that-leads-nowhere-is-noticed", clause: "R8") { harness, check in
            try harness.withStack { stack in
                try stack.write { transaction in
                    let ann = try transaction.create(Person.self)
                    try transaction.create(Dog.self).owner = ann
                }
                guard let person = stack.schema.index(of: "Person"), let store = stack.storages.first else { return }
                let writer = try store.beginWrite(WriteOptions())
                defer { writer.end() }
                try writer.apply(ChangeSet(entities: [EntityChanges(entity: person, deletes: [RowDeletion(key: 1)])]))
                _ = try writer.commit(CommitRecord())
                let scan = Check()
                try Integrity.check(store, stack.schema, scan)
                check.equal(scan.failures.count, 1, "result of the integrity scan")
            }
        },
        .graph("R011.a-new-object-that-is-deleted-leaves-nothing", "R4") { stack, check in
            try stack.add("Ann")
            try stack.write { transaction in
                let dog = try transaction.create(Dog.self), ann = try person("Ann", in: transaction)
                dog.owner = ann
                try transaction.delete(dog)
                check.equal(ann.pets.count, 0, "pets before the commit")
            }
            check.equal(try stack.fetchCount(From<Pet>()), 0, "pets")
        },
        ConformanceCase("R051.a-new-object-is-deleted-beside-one-that-is-there", clause: "R4") { harness, check in
            let schema = try Schema(
                version: "1",
                entities: [
                    Entity(
                        "Fan",
                        relationships: [
                            Relationship("likes", to: "Thing", .toMany), Relationship("tags", to: "Tag", .toMany, inverse: "fans"),
                        ]),
                    Entity("Thing", attributes: [Attribute("name", .string, defaultValue: .string(""))]),
                    Entity("Tag", relationships: [Relationship("fans", to: "Fan", .toMany, inverse: "tags")]),
                ])
            let place = try harness.place(), stack = try DataStack(schema: schema)
            defer { place.remove() }
            try stack.addStorageAndWait(try place.store(nil))
            defer { for store in stack.storages { try? store.close() } }
            func create(_ entity: String, _ transaction: BaseTransaction) throws -> DynamicObject {
                try transaction.create(Into<DynamicObject>(entity: entity))
            }
            try stack.write { _ = try create("Tag", $0) }
            try stack.write { transaction in
                guard let tag = try transaction.fetchOne(From<DynamicObject>(entity: "Tag")) else { return check.isTrue(false, "a tag") }
                let fan = try create("Fan", transaction), thing = try create("Thing", transaction)
                try fan.setObjects([thing], for: "likes")
                // The delete rule looks up the tag's destinations, which sends the other changes to the store.
                try transaction.delete(thing, tag)
            }
            for store in stack.storages { try Integrity.check(store, schema, check) }
            check.equal(try stack.fetchCount(From<DynamicObject>(entity: "Fan")), 1, "fans")
            check.equal(try stack.fetchCount(From<DynamicObject>(entity: "Thing")), 0, "things")
        },
    ]

    private static let limits: [ConformanceCase] = [
        .graph("R015.a-required-relationship", "W13") { stack, check in
            check.throwing(.validationFailed, "a player without squad") { try stack.write { _ = try $0.create(Player.self) } }
            check.equal(try stack.fetchCount(From<Player>()), 0, "players")
        },
        .graph("R016.too-few-and-too-many-members", "W13") { stack, check in
            check.throwing(.validationFailed, "a squad without players") {
                try stack.write { try $0.create(Squad.self).name = "Red" }
            }
            try makeSquad(stack, "Red", 3)
            check.throwing(.validationFailed, "a fourth player, from the other side") {
                try stack.write { try $0.create(Player.self).squad = $0.fetchAll(From<Squad>())[0] }
            }
            check.throwing(.validationFailed, "the last player taken away") {
                try stack.write { transaction in
                    let players = try transaction.fetchAll(From<Player>())
                    for player in players { try transaction.delete(player) }
                }
            }
            try stack.write { transaction in
                let players = try transaction.fetchAll(From<Player>())
                try transaction.delete(players[0], players[1])
            }
            check.equal(try stack.fetchCount(From<Player>()), 1, "one may stay")
            try stack.write { try $0.delete($0.fetchAll(From<Squad>())) }
            check.equal(try stack.fetchCount(From<Player>()), 0, "the whole squad may go")
        },
        .graph("R016.a-member-that-moves-is-counted-on-both-sides", "W13") { stack, check in
            try makeSquad(stack, "Red", 1)
            try makeSquad(stack, "Blue", 1)
            check.throwing(.validationFailed, "the squad that it leaves") {
                try stack.write { transaction in
                    let squads = try transaction.fetchAll(From<Squad>().orderBy(.ascending(\.name)))
                    squads[1].players[0].squad = squads[0]
                }
            }
        },
        .graph("R031.all-failures-of-a-commit-together", "W13") { stack, check in
            do {
                try stack.write { transaction in
                    let squad = try transaction.create(Squad.self)
                    squad.name = "x"
                    squad.rank = 11
                    _ = try transaction.create(Player.self)
                }
                check.isTrue(false, "the commit is refused")
            } catch let error as StorageError {
                check.equal(error.code, .validationFailed, "code")
                let found = error.details.failures.map { "\($0.entity).\($0.property ?? "")" }.sorted()
                check.equal(found, ["Player.squad", "Squad.name", "Squad.name", "Squad.players", "Squad.rank"], "failures")
            }
            check.equal(try stack.fetchCount(From<Squad>()), 0, "squads")
        },
        .graph("U016.ranges-lengths-and-patterns", "W13") { stack, check in
            try makeSquad(stack, "Red", 1)
            func failing(_ what: String, _ change: (Squad) -> Void) throws {
                check.throwing(.validationFailed, what) { try stack.write { change(try $0.fetchAll(From<Squad>())[0]) } }
            }
            try failing("below the minimum") { $0.rank = 0 }
            try failing("above the maximum") { $0.rank = 11 }
            try failing("too short") { $0.name = "R" }
            try failing("too long") { $0.name = "Rededreded" }
            try failing("another pattern") { $0.name = "red" }
            try stack.write { transaction in
                let squad = try transaction.fetchAll(From<Squad>())[0]
                squad.rank = 10
                squad.name = "Aaaaaaaa"
            }
            check.equal(try stack.fetchAll(From<Squad>())[0].rank, 10, "at the bounds")
        },
        .graph("R032.objects-prepare-themselves-for-the-commit", "W13") { stack, check in
            try stack.write { try $0.create(Note.self).text = "  spaced" }
            check.equal(try stack.fetchAll(From<Note>())[0].text, "spaced", "changed by willSave, in the same commit")
            try stack.write { try $0.fetchAll(From<Note>())[0].text = " again" }
            check.equal(try stack.fetchAll(From<Note>())[0].text, "again", "also of a changed object")
        },
        .graph("R032.a-validation-before-the-commit", "W13") { stack, check in
            func failures(_ body: () throws -> Void) throws -> [String] {
                do {
                    try body()
                    return []
                } catch let error as StorageError where error.code == .validationFailed {
                    return error.details.failures.map { "\($0.entity).\($0.property ?? "")" }.sorted()
                }
            }
            func build(_ transaction: some BaseTransaction) throws -> [String] {
                let squad = try transaction.create(Squad.self), note = try transaction.create(Note.self)
                (squad.name, squad.rank, note.text) = ("x", 11, " bad")
                let found = try failures { try transaction.validate() }
                check.equal(note.text, " bad", "objects do not prepare themselves")
                return found
            }
            let rules = ["Squad.name", "Squad.name", "Squad.players", "Squad.rank"]
            try stack.write { transaction in
                check.equal(try build(transaction), rules, "before the commit")
                try transaction.delete(transaction.insertedObjects())
                try transaction.validate()
            }
            check.equal(
                try failures { try stack.write { _ = try build($0) } }, ["Note.text"] + rules, "the commit, with what objects prepare")
            let work = stack.beginUnsafe()
            check.equal(try build(work), rules, "detached")
            check.equal(try failures { try work.commit() }, ["Note.text"] + rules, "the commit of detached work")
            check.equal(try stack.fetchCount(From<Squad>()), 0, "squads")
        },
        .graph("U016.custom-validation", "W13") { stack, check in
            do {
                try stack.write { try $0.create(Note.self).text = "bad" }
                check.isTrue(false, "the commit is refused")
            } catch let error as StorageError {
                check.equal(error.code, .validationFailed, "code")
                check.equal(error.details.failures.map(\.property), ["text"], "property")
            }
        },
        .graph("U015.a-flush-in-the-middle-of-building", "W13") { stack, check in
            try stack.write { transaction in
                let player = try transaction.create(Player.self), squad = try transaction.create(Squad.self)
                check.equal(try transaction.fetchCount(From<Player>()), 1, "seen although it is not complete")
                squad.name = "Red"
                player.squad = squad
            }
            check.equal(try stack.fetchAll(From<Squad>())[0].name, "Red", "name")
            check.throwing(.validationFailed, "a flush does not hide what is missing") {
                try stack.write { transaction in
                    _ = try transaction.create(Player.self)
                    _ = try transaction.fetchCount(From<Player>())
                }
            }
        },
    ]

    private static func makeSquad(_ stack: DataStack, _ name: String, _ players: Int) throws {
        try stack.write { transaction in
            let squad = try transaction.create(Squad.self)
            squad.name = name
            for _ in 0..<players { try transaction.create(Player.self).squad = squad }
        }
    }
}

extension Note: SaveAwareObject, ValidatableObject {
    func willSave() { if text.hasPrefix(" ") { text = String(text.drop { $0 == " " }) } }

    func validate() throws { if text == "bad" { throw ValidationFailure("text", "must not be bad") } }
}

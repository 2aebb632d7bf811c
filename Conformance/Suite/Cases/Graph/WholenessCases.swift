internal import Foundation
internal import Polystore
internal import PolystoreStorage

/// Cases in which failed work leaves objects unchanged, and the rest of the work can be committed.
enum WholenessCases {
    static let all: [ConformanceCase] = rollbacks + deletions + strict + members + stores

    private static let rollbacks: [ConformanceCase] = [
        ConformanceCase("G070.a-rollback-that-cannot-read-changes-nothing", clause: "W19") { harness, check in
            try harness.withWeakStack { stack, store in
                try stack.add("Ann", "Bob")
                let work = stack.beginUnsafe(), ann = try person("Ann", in: work), bob = try person("Bob", in: work)
                ann.age = 30
                try work.delete(bob)
                let cid = try work.create(Person.self)
                store.allow(0)
                check.throwing(.inputOutput, "a rollback without reading") { try work.rollback() }
                store.allow(.max)
                check.isTrue(work.hasChanges && ann.age == 30 && bob.isDeleted && !cid.isDeleted, "the changes remain")
                try work.rollback()
                check.isTrue(!work.hasChanges && ann.age == 0 && !bob.isDeleted && cid.isDeleted, "the changes are rolled back")
                ann.age = 40
                bob.age = 50
                try work.commit()
                let ages = try stack.fetchAll(From<Person>().orderBy(.ascending(\.name))).map(\.age)
                check.equal(ages, [40, 50], "later assignments are committed")
            }
        },
        ConformanceCase("G071.a-rollback-after-its-store-was-removed", clause: "W19") { harness, check in
            try harness.withStack { stack in
                try stack.add("Ann", "Bob")
                let work = stack.beginUnsafe(), ann = try person("Ann", in: work), bob = try person("Bob", in: work)
                let id = ann.objectID
                ann.age = 30
                try work.delete(bob)
                let cid = try work.create(Person.self)
                try stack.removeStorage(stack.storages[0])
                check.throwing(.storeClosed, "a commit without the store") { try work.commit() }
                try work.rollback()
                check.isTrue(!work.hasChanges && !ann.hasChanges, "no changes")
                check.isTrue(ann.age == 0 && !bob.isDeleted && cid.isDeleted, "the values that were read")
                check.equal(ann.objectID, id, "the identity")
                try work.commit()
                ann.age = 50
                check.isTrue(work.hasChanges, "an assignment is known")
                check.throwing(.storeClosed, "and cannot be committed") { try work.commit() }
            }
        },
    ]

    private static let deletions: [ConformanceCase] = [
        .graph("U021.a-violation-beside-a-deletion-leaves-all-as-it-was", "W4", needs: [.savepoints]) { stack, check in
            try family(stack)
            try stack.write { transaction in
                let ann = try person("Ann", in: transaction), bob = try person("Bob", in: transaction)
                let dee = try transaction.create(Person.self)
                (dee.name, dee.email) = ("Dee", "taken")
                check.equal(ann.songs.map(\.title), ["a", "b"], "songs")
                check.equal(ann.clubs.count, 1, "clubs")
                try transaction.delete(ann)
                check.throwing(.uniqueConstraintViolated, "a fetch, which has to write first") {
                    _ = try transaction.fetchCount(From<Person>())
                }
                check.isTrue(ann.isDeleted && bob.partner == nil, "the deletion")
                check.equal(bob.pets.count, 0, "pets of the other")
                dee.email = "free"
            }
            check.equal(try stack.names(), ["Bob", "Dee"], "names")
            check.equal(try stack.fetchCount(From<Dog>()), 0, "dogs")
            check.equal(try stack.fetchCount(From<Song>()), 2, "songs")
        },
        .graph("U021.what-violates-a-constraint-can-be-deleted", "W4") { stack, check in
            try family(stack)
            try stack.write { transaction in
                let dee = try transaction.create(Person.self)
                (dee.name, dee.email) = ("Dee", "taken")
                try transaction.delete(dee)
            }
            check.equal(try stack.names(), ["Ann", "Bob", "Cid"], "names")
        },
        ConformanceCase("U022.a-deletion-that-cannot-read-changes-nothing", clause: "W4") { harness, check in
            try harness.withWeakStack { stack, store in
                try family(stack)
                var failures = 0
                for allowed in 0..<100 {
                    let work = stack.beginUnsafe(), ann = try person("Ann", in: work), bob = try person("Bob", in: work)
                    let songs = try work.fetchAll(From<Song>())
                    store.allow(allowed)
                    do {
                        try work.delete([ann] + songs)
                        store.allow(.max)
                        break
                    } catch let error as StorageError {
                        store.allow(.max)
                        failures += 1
                        check.equal(error.code, .inputOutput, "the error after \(allowed) reads")
                    }
                    check.isTrue(!work.hasChanges && !ann.isDeleted, "no change after \(allowed) reads")
                    check.isTrue(ann.partner === bob && bob.partner === ann, "partners after \(allowed) reads")
                    check.isTrue(ann.songs.count == 2 && ann.clubs.count == 1 && ann.pets.count == 1, "members after \(allowed) reads")
                    bob.age += 1
                    try work.commit()
                }
                check.isTrue(failures > 2, "reads that failed")
                check.equal(try stack.read(synchronous: { try person("Bob", in: $0).age }), failures, "commits afterwards")
                check.equal(try stack.fetchCount(From<Song>()), 2, "songs")
            }
        },
    ]

    private struct GivenUp: Error {}

    private static let strict: [ConformanceCase] = [
        .graph("R020.what-was-planned-stays-planned", "R7") { stack, check in
            try family(stack)
            stack.relationships = .strict
            let request = From<Person>().where(\.name == "Ann").prefetch(\.pets).prefetch(\.clubs)
                .prefetch(\.songs).prefetch(\.partner)
            func isWhole(_ ann: Person?) -> Bool {
                ann?.pets.count == 1 && ann?.clubs.count == 1 && ann?.songs.map(\.title) == ["a", "b"] && ann?.partner?.name == "Bob"
            }
            try stack.write { transaction in
                let ann = try transaction.fetchOne(request)
                do {
                    try transaction.nested {
                        ann?.age = 5
                        ann?.songs = []
                        throw GivenUp()
                    }
                } catch is GivenUp {}
                check.isTrue(isWhole(ann), "after a part that failed")
            }
            let work = stack.beginUnsafe(supportsUndo: true), ann = try work.fetchOne(request)
            try work.markUndoPoint()
            ann?.age = 5
            ann?.songs = []
            _ = try work.undo()
            check.isTrue(isWhole(ann), "after an undo")
            ann?.age = 6
            ann?.songs = []
            try work.rollback()
            check.isTrue(isWhole(ann), "after a rollback")
            try work.commit()
        }
    ]

    private static let members: [ConformanceCase] = [
        .graph("R037.members-one-by-one", "R3") { stack, check in
            var random = SplitMix(seed: 12), pets: Set<Int> = [], clubs: Set<Int> = []
            for round in 0..<3 {
                try stack.write { transaction in
                    let ann = try round == 0 ? transaction.create(Person.self) : person("Ann", in: transaction)
                    ann.name = "Ann"
                    for number in 0..<(round == 0 ? 20 : 0) {
                        try transaction.create(Dog.self).tricks = number
                        try transaction.create(Club.self).name = "\(number)"
                    }
                    let dogs = try transaction.fetchAll(From<Dog>().orderBy(.ascending(\.tricks)))
                    let all = try transaction.fetchAll(From<Club>()).sorted { Int($0.name) ?? 0 < Int($1.name) ?? 0 }
                    for _ in 0..<60 {
                        let dog = Int(random.next() % 20), club = Int(random.next() % 20)
                        if random.next() % 2 == 0 {
                            check.equal(ann.add(\.pets, relation: dogs[dog]), pets.insert(dog).inserted, "a pet is added")
                            check.equal(ann.add(\.clubs, relation: all[club]), clubs.insert(club).inserted, "a club is added")
                        } else {
                            check.equal(ann.remove(\.pets, relation: dogs[dog]), pets.remove(dog) != nil, "a pet is removed")
                            check.equal(ann.remove(\.clubs, relation: all[club]), clubs.remove(club) != nil, "a club is removed")
                        }
                        if random.next() % 8 == 0 {
                            check.equal(Set(ann.pets.compactMap { ($0 as? Dog)?.tricks }), pets, "pets")
                            check.equal(Set(ann.clubs.compactMap { Int($0.name) }), clubs, "clubs")
                            check.equal(Set(all.indices.filter { all[$0].members.contains(ann) }), clubs, "the other side of clubs")
                            check.equal(Set(dogs.indices.filter { dogs[$0].owner === ann }), pets, "the other side of pets")
                        }
                    }
                }
                try stack.read(synchronous: { source in
                    let ann = try person("Ann", in: source)
                    check.equal(Set(ann.pets.compactMap { ($0 as? Dog)?.tricks }), pets, "pets after commit \(round)")
                    check.equal(Set(ann.clubs.compactMap { Int($0.name) }), clubs, "clubs after commit \(round)")
                })
            }
        }
    ]

    /// Creates a person with one destination for every relationship, and one person whose address is already in use.
    private static func family(_ stack: DataStack) throws {
        try stack.write { transaction in
            let ann = try transaction.create(Person.self), bob = try transaction.create(Person.self)
            let cid = try transaction.create(Person.self), dog = try transaction.create(Dog.self)
            (ann.name, bob.name, cid.name) = ("Ann", "Bob", "Cid")
            bob.email = "taken"
            ann.partner = bob
            cid.parent = ann
            dog.owner = ann
            let club = try transaction.create(Club.self)
            ann.clubs = [club]
            ann.songs = try ["a", "b"].map { title in
                let song = try transaction.create(Song.self)
                song.title = title
                return song
            }
        }
    }

    private static let stores: [ConformanceCase] = [
        ConformanceCase("G072.a-store-that-comes-back", clause: "W19", needs: [.persistent]) { harness, check in
            let place = try harness.place(), stack = try Graph.stack()
            defer { place.remove() }
            try stack.addStorageAndWait(try place.store(nil))
            try stack.add("Ann")
            let work = stack.beginUnsafe(), ann = try person("Ann", in: work), id = ann.objectID
            try work.create(Person.self).name = "Bob"
            try work.commit()
            for round in 1...2 {
                try stack.removeStorage(stack.storages[0])
                check.throwing([.notFound, .storeClosed], "to create without the store") { _ = try work.create(Person.self) }
                check.throwing([.notFound, .storeClosed], "to find without the store") { _ = try work.fetchExisting(id) }
                try stack.addStorageAndWait(try place.store(nil))
                let again = try work.fetchExisting(id)
                check.isTrue(again !== ann && again?.name == "Ann", "the object is read again")
                again?.age = round
                try work.create(Person.self).name = "New \(round)"
                try work.commit()
                check.equal(
                    try stack.read(synchronous: { try person("Ann", in: $0).age }), round, "changes after the store was added again")
                check.equal(ann.objectID, id, "the identity of the object of before")
            }
            check.equal(try stack.names(), ["Ann", "Bob", "New 1", "New 2"], "names")
            ann.age = 9
            check.throwing(.storeClosed, "an object of before cannot be written") { try work.commit() }
            try stack.storages[0].close()
        }
    ]
}

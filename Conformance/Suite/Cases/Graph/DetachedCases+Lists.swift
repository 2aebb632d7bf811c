internal import Polystore
internal import PolystoreSchema
internal import PolystoreStorage

/// Cases about lists that two transactions change, beyond members that both append.
extension DetachedCases {
    static let lists: [ConformanceCase] = [
        ConformanceCase("L045.a-list-that-is-read-again", clause: "W20") { harness, check in
            func adds(_ story: String, there: [String], here: [String], again: [String]) throws {
                try list(harness, check, story) { objects in
                    for seat in there { try objects.include("Room0", "tour", seat) }
                } here: { objects in
                    for seat in here { try objects.include("Room0", "tour", seat) }
                } again: { objects in
                    for seat in again { try objects.include("Room0", "tour", seat) }
                }
            }
            try adds("the same member", there: ["Seat4", "Seat5"], here: ["Seat4"], again: [])
            try adds("another member", there: ["Seat5"], here: ["Seat0"], again: [])
            try adds("another member, and one more", there: ["Seat5"], here: ["Seat0"], again: ["Seat1"])
            try adds("several, and more", there: ["Seat5", "Seat4"], here: ["Seat1", "Seat0"], again: ["Seat3", "Seat2"])
            try list(harness, check, "a member before that of the other") { objects in
                try objects.include("Room0", "tour", "Seat5")
            } here: { objects in
                try objects.include("Room0", "tour", "Seat0")
            } again: { objects in
                try objects.insert("Room0", "tour", "Seat1", after: "Seat0")
            }
            try list(harness, check, "the member of the other is removed") { objects in
                for seat in ["Seat5", "Seat0"] { try objects.include("Room0", "tour", seat) }
            } here: { objects in
                try objects.include("Room0", "tour", "Seat0")
            } again: { objects in
                for seat in ["Seat5", "Seat0"] { try objects.exclude("Room0", "tour", seat) }
            }
        },
        ConformanceCase("L045.a-member-that-is-taken-back-before-the-list-is-read-again", clause: "W20") { harness, check in
            for isRemoved in [false, true] {
                try list(harness, check, "the member of the other is moved; removed before: \(isRemoved)", count: 34) { objects in
                    try objects.include("Room0", "tour", "Seat5")
                } here: { objects in
                    try objects.include("Room0", "tour", "Seat9")
                    try objects.exclude("Room0", "tour", "Seat9")
                } again: { objects in
                    if isRemoved { try objects.exclude("Room0", "tour", "Seat5") }
                    try objects.insert("Room0", "tour", "Seat5", after: nil)
                }
            }
        },
        .graph("L045.a-list-that-is-read-again-lacks-what-was-removed", "W20") { stack, check in
            try stack.add("Ann")
            try stack.write { transaction in
                let songs = try (1...4).map { number in
                    let song = try transaction.create(Song.self)
                    song.title = "\(number)"
                    return song
                }
                try person("Ann", in: transaction).songs = songs
            }
            let work = stack.beginUnsafe(), ann = try person("Ann", in: work), songs = ann.songs
            ann.songs = [songs[3], songs[0], songs[1], songs[2]]
            try stack.write { transaction in
                let ann = try person("Ann", in: transaction)
                ann.songs = ann.songs.filter { $0.title != "4" && $0.title != "2" }
            }
            try work.refresh()
            check.equal(ann.songs.map(\.title), ["1", "3"], "before the commit")
            try work.commit()
            check.equal(ann.songs.map(\.title), ["1", "3"], "after the commit")
            check.equal(try stack.read(synchronous: { try person("Ann", in: $0).songs.map(\.title) }), ["1", "3"], "in the store")
        },
        // Members that are inserted at one place again and again leave no number between ranks, and the list is numbered again.
        ConformanceCase("L046.a-list-that-is-numbered-again", clause: "W20") { harness, check in
            for other in ["Seat32", "Seat1", nil] {
                for isHere in [true, false] {
                    func insert(_ objects: SerialObjects) throws { try objects.insert("Room0", "tour", "Seat33", after: other) }
                    try list(harness, check, "after \(other ?? "none"); here: \(isHere)", count: 34) { objects in
                        if isHere { try insert(objects) } else { try fill(objects) }
                    } here: { objects in
                        if isHere { try fill(objects) } else { try insert(objects) }
                    }
                }
            }
        },
        .graph("L047.a-member-that-has-another-owner-since", "W1, W20") { stack, check in
            try makeSquads(stack, ["Blue": [1, 2], "Red": [3]])
            try stack.add("Ann", "Bob", "Cid")
            try stack.write { try person("Cid", in: $0).parent = person("Ann", in: $0) }
            let work = stack.beginUnsafe(), blue = try squad("Blue", in: work), ann = try person("Ann", in: work)
            // The lists are read, and the members are released.
            check.equal([blue.players.count, ann.children.count], [2, 1], "members before")
            try stack.write { transaction in
                try player(1, in: transaction).squad = squad("Red", in: transaction)
                try person("Cid", in: transaction).parent = person("Bob", in: transaction)
            }
            let one = try player(1, in: work), cid = try person("Cid", in: work)
            blue.players = blue.players.filter { $0 != one }
            ann.children.remove(cid)
            check.equal(blue.players.map(\.number), [2], "the list")
            check.equal(ann.children.count, 0, "the set")
            try work.commit()
            check.equal(try squads(stack), ["Blue": [2], "Red": [3, 1]], "squads")
            check.equal(try stack.read(synchronous: { try person("Cid", in: $0).parent?.name }), "Bob", "the parent")
        },
    ]

    /// Inserts members behind the first one until there is no number left between two ranks.
    private static func fill(_ objects: SerialObjects) throws {
        for number in 2..<32 { try objects.insert("Room0", "tour", "Seat\(number)", after: "Seat0") }
    }

    /// Compares two transactions that change the list of one room, which has three members or none, with one after the other.
    private static func list(
        _ harness: StoreHarness, _ check: Check, _ name: String, count: Int = 6, there: (SerialObjects) throws -> Void,
        here: (SerialObjects) throws -> Void, again: ((SerialObjects) throws -> Void)? = nil
    ) throws {
        let tour = Relationship("tour", to: "Seat", .toManyOrdered, inverse: "tours")
        let tours = Relationship("tours", to: "Room", .toMany, inverse: "tour")
        let results = try SerialScene(rooms: [tour], seats: [tours], count: count).run(harness) { objects in
            for seat in ["Seat0", "Seat1", "Seat32"] where count > 6 { try objects.include("Room0", "tour", seat) }
        } there: {
            try there($0)
        } here: {
            try here($0)
        } again: {
            try again?($0)
        }
        check.equal(results.merged, results.serial, name)
    }
}

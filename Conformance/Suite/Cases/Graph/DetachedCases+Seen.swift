internal import Polystore
internal import PolystoreStorage

/// Cases about relationships that a detached transaction sees in another state than the transaction that changed them in the meantime.
extension DetachedCases {
    static let seen: [ConformanceCase] = [
        .graph("L032.a-deletion-that-is-given-up-after-a-move", "W20") { stack, check in
            for isMovedByBoth in [false, true] {
                try reset(stack)
                try makeSquads(stack, ["Blue": [1, 2], "Gray": [3], "Red": [4]])
                let work = stack.beginUnsafe(), one = try player(1, in: work)
                one.squad = try squad("Red", in: work)
                try work.delete(one)
                try stack.write { transaction in
                    let one = try player(1, in: transaction)
                    one.number = 11
                    if isMovedByBoth { one.squad = try squad("Gray", in: transaction) }
                }
                try stale([one], check) { try work.commit() }
                try work.commit(merging: .theirs)
                let expected = isMovedByBoth ? ["Blue": [2], "Gray": [3, 11], "Red": [4]] : ["Blue": [11, 2], "Gray": [3], "Red": [4]]
                check.equal(try squads(stack), expected, "squads; moved by both: \(isMovedByBoth)")
                let mine = try work.fetchAll(From<Squad>()).map { ($0.name, $0.players.map(\.number)) }
                check.equal(Dictionary(mine) { first, _ in first }, expected, "in memory; moved by both: \(isMovedByBoth)")
                check.equal(one.squad?.name, isMovedByBoth ? "Gray" : "Blue", "the squad of the player")
                check.isTrue(!work.hasChanges, "nothing is left to commit")
            }
        },
        .graph("L032.a-deletion-that-is-given-up-after-a-change-of-partners", "W20") { stack, check in
            try stack.add("Ann", "Bob", "Cid", "Dan")
            try stack.write { transaction in
                try person("Ann", in: transaction).partner = person("Dan", in: transaction)
                try person("Bob", in: transaction).partner = person("Cid", in: transaction)
            }
            let work = stack.beginUnsafe(), ann = try person("Ann", in: work)
            ann.partner = try person("Bob", in: work)
            try work.delete(ann)
            try stack.write { try person("Ann", in: $0).age = 5 }
            try work.commit(merging: .theirs)
            check.equal(try partners(stack), ["Ann": "Dan", "Bob": "-", "Cid": "-", "Dan": "Ann"], "partners")
            check.equal(ann.partner?.partner, ann, "in memory")
        },
        .graph("L033.a-member-of-a-list-that-moved-since", "W8, W20") { stack, check in
            let policies: [(MergePolicy, [String: [Int]])] = [
                (.mine, ["Blue": [2, 1], "Red": [3]]), (.theirs, ["Blue": [2], "Red": [3, 1]]),
            ]
            for (policy, expected) in policies {
                try reset(stack)
                try makeSquads(stack, ["Blue": [1, 2], "Red": [3]])
                let work = stack.beginUnsafe(), one = try player(1, in: work), blue = try squad("Blue", in: work)
                try stack.write { try player(1, in: $0).squad = squad("Red", in: $0) }
                // The list is read here, after the player.
                blue.players.append(one)
                try stale([one], check) { try work.commit() }
                check.equal(try squads(stack), ["Blue": [2], "Red": [3, 1]], "nothing is written")
                try work.commit(merging: policy)
                check.equal(try squads(stack), expected, "squads with \(policy)")
                check.equal(blue.players.map(\.number), expected["Blue"], "in memory with \(policy)")
                check.equal(one.squad?.players.contains(one), true, "its squad has it with \(policy)")
            }
        },
        .graph("L033.a-member-of-a-set-that-moved-since", "W8, W20") { stack, check in
            for (policy, pets) in [(MergePolicy.mine, 1), (.theirs, 0)] {
                try reset(stack)
                try stack.add("Ann")
                try stack.write { transaction in
                    let rex = try transaction.create(Dog.self)
                    (rex.name, rex.owner) = ("Rex", try person("Ann", in: transaction))
                }
                let work = stack.beginUnsafe(), rex = try dog("Rex", in: work), ann = try person("Ann", in: work)
                try stack.write { try dog("Rex", in: $0).owner = nil }
                ann.pets.insert(rex)
                try stale([rex], check) { try work.commit() }
                try work.commit(merging: policy)
                check.equal(try stack.read(synchronous: { try person("Ann", in: $0).pets.count }), pets, "pets with \(policy)")
                check.equal(ann.pets.count, pets, "in memory with \(policy)")
                check.equal(rex.owner, pets == 1 ? ann : nil, "the owner with \(policy)")
            }
        },
        .graph("L036.members-that-both-have-added-are-stored-and-seen-after-a-refresh", "W20") { stack, check in
            for policy in [MergePolicy.error, .mine, .theirs] {
                try reset(stack)
                try stack.add("Ann")
                try stack.write { transaction in for name in ["Go", "Chess"] { try transaction.create(Club.self).name = name } }
                let work = stack.beginUnsafe(), ann = try person("Ann", in: work)
                ann.clubs = try Set(work.fetchAll(From<Club>().where(\.name == "Go")))
                try stack.write { transaction in
                    try person("Ann", in: transaction).clubs = try Set(transaction.fetchAll(From<Club>().where(\.name == "Chess")))
                }
                try work.commit(merging: policy)
                let stored = try stack.read(synchronous: { try person("Ann", in: $0).clubs.map(\.name).sorted() })
                check.equal(stored, ["Chess", "Go"], "stored with \(policy)")
                try work.refresh()
                check.equal(ann.clubs.map(\.name).sorted(), ["Chess", "Go"], "after a refresh with \(policy)")
            }
        },
        .graph("L034.a-pair-that-both-have-added-is-removed", "W20") { stack, check in
            for way in ["refresh", "undo", "other side"] {
                try reset(stack)
                try stack.add("Ann")
                try stack.write { transaction in
                    try transaction.create(Club.self).name = "Go"
                    try transaction.create(Song.self).title = "a"
                }
                let work = stack.beginUnsafe(supportsUndo: true), ann = try person("Ann", in: work)
                let club = try work.fetchAll(From<Club>())[0], songs = try work.fetchAll(From<Song>())
                (ann.clubs, ann.songs) = ([club], songs)
                try stack.write { transaction in
                    let ann = try person("Ann", in: transaction)
                    ann.clubs = try Set(transaction.fetchAll(From<Club>()))
                    ann.songs = try transaction.fetchAll(From<Song>())
                }
                switch way {
                case "refresh": try work.refresh()
                case "undo":
                    try work.markUndoPoint()
                    ann.age = 1
                    try work.undo()
                default: break
                }
                if way == "other side" { club.members.remove(ann) } else { (ann.clubs, ann.songs) = ([], []) }
                try work.commit(merging: .mine)
                check.isTrue(ann.clubs.isEmpty && club.members.isEmpty, "in memory after \(way)")
                let stored = try stack.read(synchronous: { try $0.fetchAll(From<Club>())[0].members.count })
                check.equal(stored, 0, "members after \(way)")
                let list = try stack.read(synchronous: { try person("Ann", in: $0).songs.count })
                check.equal(list, way == "other side" ? 1 : 0, "songs after \(way)")
            }
        },
    ]
}

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
    ]
}

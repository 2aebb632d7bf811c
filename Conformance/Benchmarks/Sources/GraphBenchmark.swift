import Foundation
import GRDB
import Polystore
import PolystoreCatalog

/// The traversal of owners with five members each, with prefetched members, and a change of one attribute of all members.
struct GraphBenchmark {
    let place: Places
    let owners: Int
    let rounds: Int
    let report: (Measurement) -> Void

    private struct OwnerRecord: Codable, FetchableRecord, PersistableRecord {
        static let databaseTableName = "owner"
        static let members = hasMany(MemberRecord.self)
        var id: Int64
        var name: String
        var age: Int64
    }

    private struct MemberRecord: Codable, FetchableRecord, PersistableRecord {
        static let databaseTableName = "member"
        var id: Int64
        var name: String
        var score: Int64
        var ownerId: Int64
    }

    private struct OwnerWithMembers: Decodable, FetchableRecord {
        var owner: OwnerRecord
        var members: [MemberRecord]
    }

    func run() throws {
        let stack = try DataStack(Owner.self, Member.self)
        let store = try StoreCatalog.standard.store(at: StoreURL(try place.url("sqlite")), configuration: nil)
        try stack.addStorageAndWait(store)
        defer { try? stack.removeStorage(store) }
        try stack.perform(synchronous: { transaction in
            for index in 0..<owners {
                let owner = try transaction.create(Owner.self)
                owner.name = "owner \(index)"
                owner.age = index % 90
                for number in 0..<5 {
                    let member = try transaction.create(Member.self)
                    member.score = 0
                    member.name = "member \(index) \(number)"
                    member.owner = owner
                }
            }
        })
        let pool = try database()
        defer { try? pool.close() }
        try traverse(stack, pool)
        try update(stack, pool)
    }

    private func database() throws -> DatabasePool {
        var configuration = Configuration()
        configuration.prepareDatabase { db in try db.execute(sql: "PRAGMA page_size=8192; PRAGMA cache_size=-65536") }
        let pool = try DatabasePool(path: place.file("graph.db"), configuration: configuration)
        try pool.writeWithoutTransaction { db in try db.execute(sql: "PRAGMA synchronous=FULL") }
        try pool.write { db in
            try db.execute(
                sql: """
                    CREATE TABLE owner(id INTEGER PRIMARY KEY, name TEXT NOT NULL, age INTEGER NOT NULL) STRICT;
                    CREATE TABLE member(id INTEGER PRIMARY KEY, name TEXT NOT NULL, score INTEGER NOT NULL,
                        ownerId INTEGER NOT NULL REFERENCES owner(id)) STRICT;
                    CREATE INDEX member_owner ON member(ownerId);
                    """)
            for index in 0..<Int64(owners) {
                try OwnerRecord(id: index + 1, name: "owner \(index)", age: index % 90).insert(db)
                for number in 0..<Int64(5) {
                    try MemberRecord(id: index * 5 + number + 1, name: "member \(index) \(number)", score: 0, ownerId: index + 1).insert(db)
                }
            }
        }
        return pool
    }

    private func traverse(_ stack: DataStack, _ pool: DatabasePool) throws {
        var measurement = Measurement("traverse-prefetched", store: "sqlite", against: "grdb", count: owners)
        try measurement.run(
            rounds: rounds,
            ours: {
                try nanoseconds {
                    var length = 0
                    for owner in try stack.fetchAll(From<Owner>().prefetch(\.members)) {
                        for member in owner.members { length += member.name.utf8.count }
                    }
                    if length < owners * 5 { throw BenchmarkError.wrongAnswer }
                }
            },
            theirs: {
                try nanoseconds {
                    let all = try pool.read { db in
                        try OwnerRecord.including(all: OwnerRecord.members).asRequest(of: OwnerWithMembers.self).fetchAll(db)
                    }
                    var length = 0
                    for owner in all { for member in owner.members { length += member.name.utf8.count } }
                    if length < owners * 5 { throw BenchmarkError.wrongAnswer }
                }
            })
        report(measurement)
    }

    private func update(_ stack: DataStack, _ pool: DatabasePool) throws {
        var measurement = Measurement("update-one-attribute", store: "sqlite", against: "grdb", count: owners * 5)
        try measurement.run(
            rounds: rounds,
            ours: {
                var start = ContinuousClock.now
                try stack.perform(synchronous: { transaction in
                    let members = try transaction.fetchAll(From<Member>())
                    start = .now
                    for member in members { member.score &+= 1 }
                })
                return Self.elapsed(since: start)
            },
            theirs: {
                var start = ContinuousClock.now
                try pool.write { db in
                    var members = try MemberRecord.fetchAll(db)
                    start = .now
                    for index in members.indices { try members[index].updateChanges(db) { $0.score &+= 1 } }
                }
                return Self.elapsed(since: start)
            })
        report(measurement)
    }

    private static func elapsed(since start: ContinuousClock.Instant) -> Double {
        let time = ContinuousClock.now - start
        return Double(time.components.seconds) * 1e9 + Double(time.components.attoseconds) / 1e9
    }
}

/// A commit over two stores, compared with the two commits that it replaces.
struct TwoStoresBenchmark {
    let place: Places
    let rounds: Int
    let report: (Measurement) -> Void

    func run() throws {
        for (first, second) in [("sqlite", "sqlite"), ("sqlite", "lmdb")] {
            let schema = try Schema(
                entities: [Entity("Left", attributes: [Attribute("x", .int64)]), Entity("Right", attributes: [Attribute("x", .int64)])],
                configurations: ["Left": ["Left"], "Right": ["Right"]])
            let stack = try DataStack(schema: schema)
            for (kind, name) in [(first, "Left"), (second, "Right")] {
                try stack.addStorageAndWait(StoreCatalog.standard.store(at: StoreURL(try place.url(kind)), configuration: name))
            }
            defer { for store in stack.storages { try? stack.removeStorage(store) } }
            func create(_ entities: [String]) throws {
                try stack.perform(synchronous: { transaction in
                    for entity in entities { try transaction.create(Into<DynamicObject>(entity: entity)).setValue(.int(1), for: "x") }
                })
            }
            try create(["Left", "Right"])
            var measurement = Measurement("two-store-commit", store: "\(first)+\(second)", against: "apart", count: 100)
            try measurement.run(
                rounds: rounds, ours: { try nanoseconds { for _ in 0..<100 { try create(["Left", "Right"]) } } },
                theirs: {
                    try nanoseconds {
                        for _ in 0..<100 {
                            try create(["Left"])
                            try create(["Right"])
                        }
                    }
                })
            report(measurement)
        }
    }
}

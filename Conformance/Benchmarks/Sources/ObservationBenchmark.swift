import Foundation
import Polystore
import PolystoreCatalog

/// The cost of observation: a sorted list that is kept up to date, compared with fetching the list again after each commit, and commits
/// with a thousand observers that they do not affect, compared with the same commits without observers.
struct ObservationBenchmark {
    let store: String
    let place: Places
    let rounds: Int
    let report: (Measurement) -> Void

    private static let objects = 10_000
    private static let many = 1_000_000
    private static let commits = 1_000
    private static let observers = 1_000

    func run() throws {
        try upkeep()
        try longList()
        for kind in Kind.allCases { try unconcerned(kind) }
    }

    /// The kinds of observers that a commit does not affect.
    private enum Kind: String, CaseIterable {
        /// Lists of another entity.
        case otherEntity = "other entity"
        /// Other objects of the same entity.
        case otherObjects = "other objects"
        /// Lists of the same entity whose conditions the object does not satisfy.
        case otherLists = "other lists"
        /// The same lists, kept up to date on the stack's own threads.
        case publishers
    }

    private func stack(_ count: Int = Self.objects) throws -> DataStack {
        let stack = try DataStack(Person.self, Employee.self, Owner.self, Member.self)
        let url = try place.url(store), prefix = store == "postgresql" ? "x-" : ""
        let durability = store == "memory" ? "" : "\(url.contains("?") ? "&" : "?")\(prefix)durability=relaxed"
        try stack.addStorageAndWait(StoreCatalog.standard.store(at: StoreURL(url + durability), configuration: nil))
        _ = try stack.perform(synchronous: { transaction in
            try transaction.insertAll(Into<Person>(), sources: 0..<count) { person, number in
                person.name = "person \(number)"
                person.age = number
                (person.number, person.email, person.score, person.active, person.created) = (
                    number, "", 0, true, Date(timeIntervalSince1970: 0)
                )
            }
        })
        return stack
    }

    private func commit(_ stack: DataStack, _ ids: [ObjectID<Person>], _ number: Int) throws {
        try stack.perform(synchronous: { transaction in
            // The change is large enough to move the object.
            try transaction.edit(ids[number * 7 % ids.count])?.age = (number * 7919) % Self.objects
        })
    }

    private func upkeep() throws {
        let stack = try stack(), from = From<Person>().orderBy(.ascending(\.age), .ascending(\.name))
        let ids = try stack.fetchIDs(from)
        let view = stack.makeViewContext(), monitor = try view.monitorList(from)
        var measurement = Measurement("list-upkeep", store: store, against: "refetch", count: Self.commits)
        var number = 0
        for _ in 0..<max(rounds / 2, 1) {
            var kept = 0.0, fetched = 0.0
            for _ in 0..<Self.commits {
                number += 1
                try commit(stack, ids, number)
                kept += try nanoseconds { try view.merge() }
                fetched += try nanoseconds { _ = try stack.fetchIDs(from) }
            }
            guard monitor.objectIDs == (try stack.fetchIDs(from)) else { throw BenchmarkError.wrongAnswer }
            measurement.add(ours: kept)
            measurement.add(theirs: fetched)
        }
        report(measurement)
    }

    /// Measures a list of a million objects of which a screen shows twenty at a time. The output line includes the memory of the monitor.
    private func longList() throws {
        let stack = try stack(Self.many), from = From<Person>().orderBy(.ascending(\.age)).batchSize(20)
        let ids = try stack.fetchIDs(From<Person>().where(\.age < 1_000))
        let before = residentMegabytes(), view = stack.makeViewContext(), monitor = try view.monitorList(from)
        for position in stride(from: 0, to: Self.many, by: 1_000) where monitor[position].age != position {
            throw BenchmarkError.wrongAnswer
        }
        let form = "\(residentMegabytes() - before) MB"
        var measurement = Measurement("long-list", store: store, against: "refetch", count: 1, form: form)
        for number in 0..<max(rounds, 3) {
            try commit(stack, ids, number)
            measurement.add(ours: try nanoseconds { try view.merge() })
            measurement.add(theirs: try nanoseconds { _ = try stack.fetchIDs(from) })
        }
        guard monitor.objectIDs == (try stack.fetchIDs(from)) else { throw BenchmarkError.wrongAnswer }
        report(measurement)
    }

    private func unconcerned(_ kind: Kind) throws {
        let plain = try stack(), observed = try stack(), from = From<Person>().orderBy(.ascending(\.age))
        let ids = try [plain, observed].map { try $0.fetchIDs(from) }
        let view = observed.makeViewContext()
        var kept: [AnyObject] = []
        for number in 0..<Self.observers {
            switch kind {
            case .otherEntity: kept.append(try view.monitorList(From<Owner>().orderBy(.ascending(\.name))))
            case .otherObjects:
                kept.append(
                    try view.monitorObject(ids[1][number * 7 % ids[1].count + 1 < ids[1].count ? number * 7 % ids[1].count + 1 : 0]))
            case .otherLists: kept.append(try view.monitorList(From<Person>().where(\.age == -1 - number).orderBy(.ascending(\.name))))
            case .publishers: kept.append(try observed.publishList(From<Person>().where(\.age == -1 - number).orderBy(.ascending(\.name))))
            }
        }
        var measurement = Measurement("observers", store: store, against: "none", count: Self.commits, form: kind.rawValue)
        var number = 0
        try measurement.run(
            rounds: rounds,
            ours: {
                number += 1
                return try nanoseconds { for step in 0..<Self.commits { try commit(observed, ids[1], number * Self.commits + step) } }
            },
            theirs: { try nanoseconds { for step in 0..<Self.commits { try commit(plain, ids[0], number * Self.commits + step) } } })
        try withExtendedLifetime(kept) { _ = try view.merge() }
        report(measurement)
    }
}

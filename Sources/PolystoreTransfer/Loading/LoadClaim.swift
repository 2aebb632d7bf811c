internal import PolystoreStorage

/// The reference of a record by a one-to-one relationship to an object that referred to another one before the load.
struct LoadClaim {
    /// An object of a hierarchy.
    struct Object: Hashable {
        let root: EntityIndex
        let key: Int64
    }

    /// The claimed object, and the relationship by which it would refer to that of the record.
    struct Claimed {
        let key: Int64
        let entity: String
        let property: String
    }

    /// The condition under which the record can be loaded.
    enum Condition {
        /// An object does not refer to another one.
        case isFree(Object)
        /// The record of an object, by which it no longer refers to the claimed one, is loaded.
        case isReleased(by: Object)
    }

    private enum Outcome {
        /// The record is rejected.
        case rejected
        /// The record is loaded without its reference, because the object to which it refers is not loaded.
        case without
        /// The record is loaded with its reference.
        case complete
    }

    /// The place of the record.
    let record: LoadInverses.Origin
    /// The object of the record.
    let object: Object
    let condition: Condition
    let claimed: Claimed

    /// The error of the record if it cannot be loaded.
    var error: StorageError {
        StorageError(
            .validationFailed,
            "\(record.file.excerpt()), line \(record.line): \(claimed.entity).\(claimed.property) of object \(claimed.key), to which the "
                + "record refers, already refers to another object",
            details: .init(entity: claimed.entity, property: claimed.property, keys: [claimed.key]))
    }

    private var dependency: Object {
        switch condition {
        case .isFree(let object), .isReleased(by: let object): object
        }
    }

    /// Returns the claims whose records are to be rejected so that all others can be loaded: if `a` refers to `b`, `b` to `c`, and `c` to `d`,
    /// then `b` is rejected, and `a` has nothing to refer to. Objects whose references form a ring are examined from any of them.
    ///
    /// - Parameter isNew: Returns whether an object does not exist without its record.
    static func rejected(_ claims: [LoadClaim], isNew: (Object) -> Bool) -> [LoadClaim] {
        let positions = Dictionary(grouping: claims.indices) { claims[$0].object }
        var outcomes: [Object: Outcome] = [:], started: Set<Object> = [], rejected: [LoadClaim] = []
        for first in claims where started.insert(first.object).inserted {
            // Each object, and the number of its claims whose dependencies were visited.
            var path = [(object: first.object, visited: 0)]
            while let (object, visited) = path.last {
                let own = positions[object] ?? []
                if visited < own.count {
                    path[path.count - 1].visited += 1
                    let next = claims[own[visited]].dependency
                    if positions[next] != nil, started.insert(next).inserted { path.append((next, 0)) }
                    continue
                }
                let found = own.map { claims[$0].outcome(outcomes, isNew: isNew) }
                for (position, outcome) in zip(own, found) where outcome == .rejected { rejected.append(claims[position]) }
                outcomes[object] = found.contains(.rejected) ? .rejected : found.contains(.without) ? .without : .complete
                path.removeLast()
            }
        }
        return rejected
    }

    private func outcome(_ outcomes: [Object: Outcome], isNew: (Object) -> Bool) -> Outcome {
        switch (condition, outcomes[dependency] ?? .complete) {
        case (.isFree, .complete), (.isReleased, .rejected), (.isReleased, .without): .rejected
        case (.isFree(let other), .rejected): isNew(other) ? .without : .complete
        case (.isFree, .without), (.isReleased, .complete): .complete
        }
    }
}

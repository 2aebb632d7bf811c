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
        /// A slot of an object does not refer to another one. It does so by a record; nil if by none of the load.
        case isFree(Object, slot: Int, record: LoadRecord.Place?)
        /// A record by which another object no longer refers to the claimed one is loaded.
        case isReleased(by: LoadRecord.Place)
    }

    private enum Outcome {
        /// The record is rejected. It is perhaps accepted once another record that is accepted now is rejected, if it depends on that.
        case rejected(dependsOnOthers: Bool)
        /// The record is loaded without its reference, because the object to which it refers is not loaded.
        case without(dependsOnOthers: Bool)
        /// The record is loaded with its reference.
        case complete
    }

    /// The record, and the name of its file.
    let record: LoadRecord.Place
    let file: String
    /// The object of the record, and the slot of its reference.
    let object: Object
    let slot: Int
    let condition: Condition
    let claimed: Claimed

    /// The error of the record if it cannot be loaded.
    var error: StorageError {
        StorageError(
            .validationFailed,
            "\(file.excerpt()), line \(record.line): \(claimed.entity).\(claimed.property) of object \(claimed.key), to which the record refers, "
                + "already refers to another object",
            details: .init(entity: claimed.entity, property: claimed.property, keys: [claimed.key]))
    }

    /// Returns the claims whose records are to be rejected so that all others can be loaded: if `a` refers to `b`, `b` to `c`, and `c` to `d`,
    /// then `b` is rejected, and `a` has nothing to refer to. Records whose references form a ring are examined from any of them.
    ///
    /// - Parameter isNew: Returns whether an object does not exist without its record.
    /// - Returns: The claims, and whether the reason of each is a record that is accepted.
    static func rejected(_ claims: [LoadClaim], isNew: (Object) -> Bool) -> [(claim: LoadClaim, dependsOnOthers: Bool)] {
        let ofRecords = Dictionary(grouping: claims.indices) { claims[$0].record }
        var outcomes = [Outcome?](repeating: nil, count: claims.count)
        /// Returns the records on which the claims of a record depend.
        func dependencies(_ record: LoadRecord.Place) -> [LoadRecord.Place] {
            (ofRecords[record] ?? []).compactMap { position in
                switch claims[position].condition {
                case .isFree(_, _, let other): other
                case .isReleased(let other): other
                }
            }
        }
        /// Returns whether a record is rejected only because of accepted ones; nil if it is not rejected.
        func rejection(_ record: LoadRecord.Place) -> Bool? {
            var found: Bool?
            for position in ofRecords[record] ?? [] {
                if case .rejected(let dependsOnOthers) = outcomes[position] { found = dependsOnOthers && found ?? true }
            }
            return found
        }
        /// Returns whether a record is loaded without the reference in a slot only because of accepted ones; nil if it is not.
        func loss(_ record: LoadRecord.Place, _ isReference: (LoadClaim) -> Bool) -> Bool? {
            for position in ofRecords[record] ?? [] where isReference(claims[position]) {
                if case .without(let dependsOnOthers) = outcomes[position] { return dependsOnOthers }
            }
            return nil
        }
        func outcome(_ claim: LoadClaim) -> Outcome {
            switch claim.condition {
            case .isFree(let other, let slot, let record):
                guard let record else { return .rejected(dependsOnOthers: false) }
                if let dependsOnOthers = rejection(record) {
                    return isNew(other) ? .without(dependsOnOthers: dependsOnOthers) : .complete
                }
                let isLost = loss(record) { $0.object == other && $0.slot == slot } != nil
                return isLost ? .complete : .rejected(dependsOnOthers: true)
            case .isReleased(let record):
                let kept = loss(record) { $0.slot == claim.slot }
                return (kept ?? rejection(record)).map { .rejected(dependsOnOthers: $0) } ?? .complete
            }
        }
        var started: Set<LoadRecord.Place> = []
        for first in claims where started.insert(first.record).inserted {
            // Each record, and those on which it depends and that were not visited.
            var path = [(record: first.record, waiting: dependencies(first.record))]
            while let (record, waiting) = path.last {
                if let next = waiting.last {
                    path[path.count - 1].waiting.removeLast()
                    if ofRecords[next] != nil, started.insert(next).inserted { path.append((next, dependencies(next))) }
                    continue
                }
                for position in ofRecords[record] ?? [] { outcomes[position] = outcome(claims[position]) }
                path.removeLast()
            }
        }
        return claims.indices.compactMap { position in
            guard case .rejected(let dependsOnOthers) = outcomes[position] else { return nil }
            return (claims[position], dependsOnOthers)
        }
    }
}

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
        /// The record is rejected.
        case rejected
        /// The record is loaded without its reference, because the object to which it refers is not loaded.
        case without
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
    static func rejected(_ claims: [LoadClaim], isNew: (Object) -> Bool) -> [LoadClaim] {
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
        func isRejected(_ record: LoadRecord.Place) -> Bool { ofRecords[record]?.contains { outcomes[$0] == .rejected } ?? false }
        func outcome(_ claim: LoadClaim) -> Outcome {
            switch claim.condition {
            case .isFree(let other, let slot, let record):
                guard let record else { return .rejected }
                if isRejected(record) { return isNew(other) ? .without : .complete }
                let isLost = ofRecords[record]?.contains { position in
                    claims[position].object == other && claims[position].slot == slot && outcomes[position] == .without
                }
                return isLost == true ? .complete : .rejected
            case .isReleased(let record):
                let isKept = ofRecords[record]?.contains { claims[$0].slot == claim.slot && outcomes[$0] == .without } ?? false
                return isKept || isRejected(record) ? .rejected : .complete
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
        return claims.indices.filter { outcomes[$0] == .rejected }.map { claims[$0] }
    }
}

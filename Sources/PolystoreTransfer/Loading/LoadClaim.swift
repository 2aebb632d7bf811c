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

        /// Returns the error of a record that refers to the object.
        func error(line: Int, ofFile file: String) -> StorageError {
            StorageError(
                .validationFailed,
                "\(file.excerpt()), line \(line): \(entity).\(property) of object \(key), to which the record refers, "
                    + "already refers to another object",
                details: .init(entity: entity, property: property, keys: [key]))
        }
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
    var error: StorageError { claimed.error(line: record.line, ofFile: file) }

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
        func isRejected(_ record: LoadRecord.Place) -> Bool { (ofRecords[record] ?? []).contains { outcomes[$0] == .rejected } }
        /// Returns whether a record is loaded without the reference in a slot.
        func isWithout(_ record: LoadRecord.Place, _ isReference: (LoadClaim) -> Bool) -> Bool {
            (ofRecords[record] ?? []).contains { isReference(claims[$0]) && outcomes[$0] == .without }
        }
        func outcome(_ claim: LoadClaim) -> Outcome {
            switch claim.condition {
            case .isFree(let other, let slot, let record):
                guard let record else { return .rejected }
                if isRejected(record) { return isNew(other) ? .without : .complete }
                return isWithout(record) { $0.object == other && $0.slot == slot } ? .complete : .rejected
            case .isReleased(let record):
                return isWithout(record) { $0.slot == claim.slot } || isRejected(record) ? .rejected : .complete
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

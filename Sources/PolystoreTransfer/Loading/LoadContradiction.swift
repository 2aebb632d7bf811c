internal import PolystoreStorage

/// A record that refers to an object which already refers to another one, by a one-to-one relationship.
struct LoadContradiction {
    /// An object of a hierarchy.
    struct Object: Hashable {
        let root: EntityIndex
        let key: Int64
    }

    /// The place of the record.
    let record: LoadInverses.Origin
    /// The object of the record.
    let object: Object
    /// The object to which the record refers.
    let other: Object
    let error: StorageError

    private enum Outcome {
        /// The record is rejected.
        case rejected
        /// The record is loaded without its reference, because the object to which it refers is not loaded.
        case without
        /// The record is loaded with its reference.
        case complete
    }

    /// Returns the records that are to be rejected so that all others can be loaded: if `a` refers to `b`, `b` to `c`, and `c` to `d`, then `b`
    /// is rejected, and `a` has nothing to refer to.
    ///
    /// - Parameter isNew: Returns whether an object does not exist without its record.
    static func rejected(_ all: [LoadContradiction], isNew: (Object) -> Bool) -> [LoadContradiction] {
        let positions = Dictionary(all.enumerated().map { ($1.object, $0) }, uniquingKeysWith: { first, _ in first })
        var outcomes = [Outcome?](repeating: nil, count: all.count)
        for start in all.indices where outcomes[start] == nil {
            var chain: [Int] = [], waiting: Set<Int> = [], next = start
            // The last of the chain refers to an object whose outcome is known, or to one of the chain.
            while true {
                chain.append(next)
                waiting.insert(next)
                guard let position = positions[all[next].other], outcomes[position] == nil, !waiting.contains(position) else { break }
                next = position
            }
            for position in chain.reversed() {
                let other = all[position].other
                switch positions[other].flatMap({ outcomes[$0] }) {
                case nil, .complete: outcomes[position] = .rejected
                case .rejected: outcomes[position] = isNew(other) ? .without : .complete
                case .without: outcomes[position] = .complete
                }
            }
        }
        return all.indices.filter { outcomes[$0] == .rejected }.map { all[$0] }
    }
}

internal import PolystoreStorage

/// The ranks of members that are added to ordered to-many relationships.
enum NextRank {
    /// The gap between adjacent ranks, which leaves room for inserting members.
    private static let gap: Int64 = 1 << 20

    /// Returns whether ranks are left for a number of members after the last one.
    static func hasRoom(after last: Int64?, for count: Int) -> Bool {
        let (distance, overflow) = gap.multipliedReportingOverflow(by: Int64(count))
        return !overflow && (last ?? 0) <= .max - distance
    }

    /// Returns the rank of the next member of an owner.
    static func rank(after last: Int64?, of owner: Int64, _ link: LinkDescription, _ schema: Schema) throws(StorageError) -> Int64 {
        let (rank, overflow) = (last ?? 0).addingReportingOverflow(gap)
        if !overflow { return rank }
        throw StorageError(
            .limitExceeded, "\(schema[link.owner].name) \(owner) has no rank left for another object of an ordered relationship")
    }
}

/// The groups of rejected records that take part in the load again, one after the other, until no more of them can be loaded.
///
/// Of a group, the records that are rejected again are left out once more. If none remains, or a record is rejected that was loaded before, the
/// group is divided, because its records may contradict each other.
struct LoadTrials {
    /// The number of groups that are tried at most without success, because each is at least a pass over all files.
    private static let most = 100

    /// The records that take part in the present pass; nil if no trial is in progress.
    private(set) var current: [LoadRejects.Rejected]?
    /// The records of the present group that were not rejected again.
    private var remaining: Set<LoadRecord.Place> = []
    private var records: [LoadRejects.Rejected] = []
    private var result = RejectedSearch.Result()
    /// The present group and those that wait, by the positions of their records.
    private var group: [Int] = []
    private var waiting: [[Int]] = []
    /// The number of groups that were tried without success, and of passes that were not right in the end.
    private var failures = 0
    /// Whether no rejected record can be loaded with those that are.
    private(set) var isOver = false

    /// Begins with those of some rejected records that perhaps can be loaded with the records of the last pass.
    mutating func begin(with records: [LoadRejects.Rejected], _ result: RejectedSearch.Result) {
        self.records = records
        self.result = result
        let possible = records.indices.filter { result.errors[$0] == nil }
        waiting = possible.isEmpty || failures > Self.most ? [] : [possible]
        next()
    }

    /// Searches again for records that can be loaded, because one is left out that was loaded.
    mutating func restart() {
        // A store can refuse a unique value at the commit.
        if isOver { failures += 1 }
        isOver = false
    }

    /// Leaves out the records of a group that a pass has rejected. Returns false if the group has failed.
    mutating func goesOn(without rejected: Set<LoadRecord.Place>) -> Bool {
        let places = Set((current ?? []).map(\.place))
        remaining.subtract(rejected)
        return rejected.isSubset(of: places) && !remaining.isEmpty
    }

    /// Goes on with the halves of the present group, or the next one.
    mutating func fail() {
        failures += 1
        if group.count > 1 {
            let middle = group.count / 2
            waiting.insert(contentsOf: [Array(group[..<middle]), Array(group[middle...])], at: 0)
        }
        if failures > Self.most { waiting.removeAll() }
        next()
    }

    private mutating func next() {
        group = waiting.isEmpty ? [] : waiting.removeFirst()
        // A single record is tried with those that it needs.
        let positions = group.count == 1 ? result.needed(by: group[0]) : group
        isOver = positions.isEmpty
        current = isOver ? nil : positions.map { records[$0] }
        remaining = Set((current ?? []).map(\.place))
    }
}

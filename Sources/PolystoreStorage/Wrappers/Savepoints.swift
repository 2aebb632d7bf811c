/// The savepoints of a write transaction, outermost first, each with what its store needs to return to it.
public struct Savepoints<State> {
    private var open: [(number: Int, state: State)] = []
    private var newest = 0

    /// No savepoint.
    public init() {}

    /// The number that the next one gets.
    public var next: Int { newest + 1 }

    /// How many are open.
    public var count: Int { open.count }

    /// Adds one within all others.
    ///
    /// - Returns: Its number.
    public mutating func add(_ state: State) -> Int {
        newest += 1
        open.append((newest, state))
        return newest
    }

    /// What was kept for one, and how many it encloses, itself included.
    ///
    /// - Throws: `notFound` for one that was released or rolled back.
    @discardableResult
    public func find(_ number: Int) throws(StorageError) -> (state: State, depth: Int) {
        guard let index = open.firstIndex(where: { $0.number == number }) else {
            throw StorageError(.notFound, "the savepoint was released or rolled back before; set another")
        }
        return (open[index].state, open.count - index)
    }

    /// Forgets those within one, which stays.
    public mutating func rewind(to number: Int) { open.removeAll { $0.number > number } }

    /// Forgets one and those within it.
    public mutating func release(_ number: Int) { open.removeAll { $0.number >= number } }
}

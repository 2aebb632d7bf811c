/// The savepoints of a write transaction, outermost first, each with the state that its store needs to return to it.
public struct Savepoints<State> {
    private var open: [(number: Int, state: State)] = []
    private var newest = 0

    /// Creates an empty list of savepoints.
    public init() {}

    /// The number of the next savepoint.
    public var next: Int { newest + 1 }

    /// The number of savepoints that are set.
    public var count: Int { open.count }

    /// Adds a savepoint nested in all others.
    ///
    /// - Returns: The number of the savepoint.
    public mutating func add(_ state: State) -> Int {
        newest += 1
        open.append((newest, state))
        return newest
    }

    /// Returns the state of a savepoint, and the number of savepoints that it encloses, including itself.
    ///
    /// - Throws: `notFound` for a savepoint that was released or rolled back.
    @discardableResult
    public func find(_ number: Int) throws(StorageError) -> (state: State, depth: Int) {
        guard let index = open.firstIndex(where: { $0.number == number }) else {
            throw StorageError(.notFound, "the savepoint was already released or rolled back; set another one")
        }
        return (open[index].state, open.count - index)
    }

    /// Removes the savepoints nested in a savepoint, which remains set.
    public mutating func rewind(to number: Int) { open.removeAll { $0.number > number } }

    /// Removes a savepoint and those nested in it.
    public mutating func release(_ number: Int) { open.removeAll { $0.number >= number } }
}

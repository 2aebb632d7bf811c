/// A dictionary that can return to an earlier state, in a time proportional to the changes since then.
struct RewindableDictionary<Key: Hashable, Value> {
    private(set) var values: [Key: Value] = [:]
    /// The values before each change since the first mark; nil for a key that was missing.
    private var former: [(key: Key, value: Value?)] = []
    private var isMarked = false

    var isEmpty: Bool { values.isEmpty }

    subscript(key: Key) -> Value? {
        get { values[key] }
        set {
            if isMarked { former.append((key, values[key])) }
            values[key] = newValue
        }
    }

    /// Returns a mark of the present state.
    mutating func mark() -> Int {
        isMarked = true
        return former.count
    }

    /// Returns to the state of a mark.
    mutating func rewind(to mark: Int) {
        while former.count > mark {
            let (key, value) = former.removeLast()
            values[key] = value
        }
    }
}

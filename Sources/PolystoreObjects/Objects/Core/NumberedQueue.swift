/// A first-in, first-out queue whose elements can be removed by their numbers at any time.
struct NumberedQueue<Element> {
    private var elements: [Int: Element] = [:]
    /// A lower bound of the numbers of all elements.
    private var first = 0
    private var next = 0

    /// The number of elements.
    var count: Int { elements.count }

    /// Whether the queue is empty.
    var isEmpty: Bool { elements.isEmpty }

    /// Adds an element and returns its number.
    mutating func append(_ element: Element) -> Int {
        elements[next] = element
        next += 1
        return next - 1
    }

    /// Removes the element with a number; returns nil if there is none.
    mutating func remove(_ number: Int) -> Element? { elements.removeValue(forKey: number) }

    /// Returns the first element without removing it.
    mutating func peek() -> Element? {
        // Each number is skipped only once.
        while first < next, elements[first] == nil { first += 1 }
        return elements[first]
    }

    /// Removes and returns the first element.
    mutating func popFirst() -> Element? { peek() == nil ? nil : remove(first) }
}

/// Elements in the order in which they came, each of which can be taken out by its number at any time.
struct NumberedQueue<Element> {
    private var elements: [Int: Element] = [:]
    /// No element has a lower number.
    private var first = 0
    private var next = 0

    /// The number of elements.
    var count: Int { elements.count }

    /// Whether there is none.
    var isEmpty: Bool { elements.isEmpty }

    /// Adds an element and gives its number.
    mutating func append(_ element: Element) -> Int {
        elements[next] = element
        next += 1
        return next - 1
    }

    /// Takes the element with a number out; nil where it is gone.
    mutating func remove(_ number: Int) -> Element? { elements.removeValue(forKey: number) }

    /// The first element; it stays.
    mutating func peek() -> Element? {
        // Each number is gone past once.
        while first < next, elements[first] == nil { first += 1 }
        return elements[first]
    }

    /// Takes the first element out.
    mutating func popFirst() -> Element? { peek() == nil ? nil : remove(first) }
}

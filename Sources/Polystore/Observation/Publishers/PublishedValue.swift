internal import Observation
internal import Synchronization

/// The newest value of something that is observed, and everybody who waits for the next one.
///
/// Values are numbered. Whoever is slow finds the newest value when it comes back; what it missed is kept as notes on the way (`Note`), so
/// that the difference from the value it had last can be told. There are never many: old ones are joined two by two.
///
/// What tasks call is not inlined: Decisions, "No lock is inlined where a task waits".
final class PublishedValue<Value: Sendable, Note: Sendable>: Sendable {
    /// From so many notes on they are joined.
    private static var most: Int { 64 }

    private struct State: Sendable {
        var value: Value
        var number = 0
        /// What happened up to a number since the one before.
        var notes: [(number: Int, note: Note)] = []
        var waiting: [Int: AsyncStream<Void>.Continuation] = [:]
        var next = 0
        var isFinished = false
    }

    private let state: Mutex<State>
    private let join: @Sendable (Note, Note) -> Note?

    /// A first value.
    ///
    /// - Parameters:
    ///   - value: The value.
    ///   - join: Makes one note of two that follow each other; nil where who has seen the first must not be told both.
    init(_ value: Value, join: @escaping @Sendable (Note, Note) -> Note?) {
        state = Mutex(State(value: value))
        self.join = join
    }

    /// The newest value.
    var value: Value { @inline(never) get { state.withLock { $0.value } } }

    /// The newest value, its number, and the notes since another number, oldest first. The first may begin before it.
    @inline(never) func current(since number: Int) -> (value: Value, number: Int, notes: [Note]) {
        state.withLock { state in (state.value, state.number, state.notes.filter { $0.number > number }.map(\.note)) }
    }

    /// The next value.
    func publish(_ value: Value, _ note: Note) {
        let waiting = state.withLock { state in
            state.value = value
            state.number += 1
            state.notes.append((state.number, note))
            if state.notes.count > Self.most { joinNotes(&state) }
            return Array(state.waiting.values)
        }
        for continuation in waiting { continuation.yield() }
    }

    private func joinNotes(_ state: inout State) {
        var joined: [(number: Int, note: Note)] = [], isOpen = false
        for next in state.notes {
            if isOpen, let last = joined.last, let both = join(last.note, next.note) {
                joined[joined.count - 1] = (next.number, both)
                isOpen = false
            } else {
                joined.append(next)
                isOpen = true
            }
        }
        state.notes = joined
    }

    /// Ends all sequences of news.
    func finish() {
        let waiting = state.withLock { state in
            state.isFinished = true
            defer { state.waiting = [:] }
            return Array(state.waiting.values)
        }
        for continuation in waiting { continuation.finish() }
    }

    /// A sequence with an element after a value has come; several may be one. It begins with one for the value that is there.
    @inline(never) func news() -> AsyncStream<Void> {
        let (stream, continuation) = AsyncStream<Void>.makeStream(bufferingPolicy: .bufferingNewest(1))
        let (number, isFinished) = state.withLock { state in
            state.next += 1
            if !state.isFinished { state.waiting[state.next] = continuation }
            return (state.next, state.isFinished)
        }
        continuation.onTermination = { [weak self] _ in self?.state.withLock { $0.waiting[number] = nil } }
        continuation.yield()
        if isFinished { continuation.finish() }
        return stream
    }

    /// Each value that is newer than the one before, beginning with the one that is there or with the next. Who is slow gets the newest. For
    /// one consumer.
    func steps(skipsFirst: Bool = false) -> Steps {
        let number = skipsFirst ? current(since: .max).number : -1
        return Steps(published: self, number: number, news: news())
    }

    /// The values to come for one consumer.
    struct Steps: Sendable {
        fileprivate let published: PublishedValue
        fileprivate let number: Int
        fileprivate let news: AsyncStream<Void>

        func makeAsyncIterator() -> Iterator { Iterator(self) }
    }

    /// Takes the values.
    struct Iterator {
        let published: PublishedValue
        /// The number of the value that the consumer has.
        var number: Int
        private var news: AsyncStream<Void>.Iterator

        fileprivate init(_ steps: Steps) {
            published = steps.published
            number = steps.number
            news = steps.news.makeAsyncIterator()
        }

        /// The next value and the notes since the one before; nil when the task was cancelled or nothing more comes.
        mutating func next() async -> (value: Value, notes: [Note])? {
            while await wait() {
                let current = published.current(since: number)
                if current.number == number { continue }
                number = current.number
                return (current.value, current.notes)
            }
            return nil
        }

        /// Waits until there may be a newer value; false when the task was cancelled or nothing more comes.
        mutating func wait() async -> Bool { await news.next() != nil && !Task.isCancelled }
    }

    /// The number of those who wait; for tests.
    var waitingCount: Int { state.withLock { $0.waiting.count } }
}

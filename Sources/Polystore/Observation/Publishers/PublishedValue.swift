internal import Observation
internal import Synchronization

/// What is remembered of a step of a published value, or of several.
protocol PublishedNote: Sendable {
    /// How much is remembered.
    var size: Int { get }
    /// The same without what makes its size.
    var forgotten: Self { get }

    /// One note of two steps that follow each other; nil where who has seen the first must not be told both.
    func joined(with next: Self) -> Self?
}

extension PublishedNote {
    var size: Int { 0 }
    var forgotten: Self { self }
}

/// The newest value of something that is observed, and everybody who waits for the next one.
///
/// Values are numbered. Whoever is slow finds the newest value when it comes back; what it missed is kept as notes on the way (`Note`), so
/// that the difference from the value it had last can be told. There are never many, and never large ones: old ones are joined two by two,
/// and forgotten where they remember too much. Where nobody waits there are none.
///
/// What tasks call is not inlined: decision 0038, "No lock is inlined where a task waits".
final class PublishedValue<Value: Sendable, Note: PublishedNote>: Sendable {
    /// From so many notes on they are joined.
    private static var most: Int { 64 }
    /// The greatest size of all notes together but the newest, which the value has too.
    private static var mostSize: Int { 10_000 }

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

    /// A first value.
    init(_ value: Value) { state = Mutex(State(value: value)) }

    /// The newest value.
    var value: Value { @inline(never) get { state.withLock { $0.value } } }

    /// The newest value, its number, and the notes since another number, oldest first. The first may begin before it.
    @inline(never) func current(since number: Int) -> (value: Value, number: Int, notes: [Note]) {
        state.withLock { state in (state.value, state.number, state.notes.filter { $0.number > number }.map(\.note)) }
    }

    /// The next value.
    func publish(_ value: Value, _ note: Note) {
        // What it takes the place of goes away behind the lock: it may be of the program, which may ask for the value then.
        let (waiting, _, _) = state.withLock { state in
            let before = (state.value, state.notes)
            state.value = value
            state.number += 1
            state.notes = state.waiting.isEmpty ? [] : Self.bounded(state.notes + [(state.number, note)])
            return (Array(state.waiting.values), before.0, before.1)
        }
        for continuation in waiting { continuation.yield() }
    }

    private static func bounded(_ notes: [(number: Int, note: Note)]) -> [(number: Int, note: Note)] {
        var notes = notes.count > most ? joined(notes) : notes
        var size = notes.dropLast().reduce(0) { $0 + $1.note.size }
        for index in notes.indices.dropLast() where size > mostSize {
            size -= notes[index].note.size
            notes[index].note = notes[index].note.forgotten
        }
        return notes
    }

    private static func joined(_ notes: [(number: Int, note: Note)]) -> [(number: Int, note: Note)] {
        var joined: [(number: Int, note: Note)] = [], isOpen = false
        for next in notes {
            if isOpen, let last = joined.last, let both = last.note.joined(with: next.note) {
                joined[joined.count - 1] = (next.number, both)
                isOpen = false
            } else {
                joined.append(next)
                isOpen = true
            }
        }
        return joined
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
        // First, because notes are kept only for those who wait.
        let news = news()
        return Steps(published: self, number: skipsFirst ? current(since: .max).number : -1, news: news)
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

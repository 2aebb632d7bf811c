internal import Observation
internal import PolystoreObjects
internal import Synchronization

/// The newest value of an observed component, and the consumers that wait for the next one.
///
/// Values are numbered. A slow consumer finds the newest value when it returns. The steps that it missed are recorded as notes (`Note`), so
/// that the difference from its last value can be reported. The number and size of notes are bounded: old ones are joined in pairs, and
/// reduced to `forgotten` if they are too large. Without waiting consumers there are no notes.
///
/// The methods that tasks call are not inlined: decision 0038, "No lock is inlined where a task waits".
final class PublishedValue<Value: Sendable, Note: PublishedNote>: Sendable {
    /// The number of notes from which on they are joined.
    private static var most: Int { 64 }
    /// The maximum total size of all notes except the newest, whose contents the value has too.
    private static var mostSize: Int { 10_000 }

    private struct State: Sendable {
        var value: Value
        var number = 0
        /// The notes, each for the steps up to a number since the one before.
        var notes: [(number: Int, note: Note)] = []
        var waiting: [Int: AsyncStream<Void>.Continuation] = [:]
        var next = 0
        var isFinished = false
    }

    private let state: Mutex<State>

    /// Creates the first value.
    init(_ value: Value) { state = Mutex(State(value: value)) }

    /// The newest value.
    var value: Value { @inline(never) get { state.withLock { $0.value } } }

    /// Returns the newest value, its number, and the notes since another number, oldest first. The first note may begin before it.
    @inline(never) func current(since number: Int) -> (value: Value, number: Int, notes: [Note]) {
        state.withLock { state in (state.value, state.number, state.notes.filter { $0.number > number }.map(\.note)) }
    }

    /// Publishes the next value.
    func publish(_ value: Value, _ note: Note) {
        // The replaced value is released outside the lock: it may belong to the program, whose deinitialiser may read the value.
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

    /// Ends all sequences of notifications.
    func finish() {
        let waiting = state.withLock { state in
            state.isFinished = true
            defer { state.waiting = [:] }
            return Array(state.waiting.values)
        }
        for continuation in waiting { continuation.finish() }
    }

    /// Returns a sequence with an element after a value was published, which may represent several. It begins with one for the current
    /// value.
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

    /// Returns each value that is newer than the one before, beginning with the current or the next one. A slow consumer receives the
    /// newest one. For one consumer.
    func steps(skipsFirst: Bool = false) -> Steps {
        // First, because notes are recorded only for waiting consumers.
        let news = news()
        return Steps(published: self, number: skipsFirst ? current(since: .max).number : -1, news: news)
    }

    /// The coming values for one consumer.
    struct Steps: Sendable {
        fileprivate let published: PublishedValue
        fileprivate let number: Int
        fileprivate let news: AsyncStream<Void>

        func makeAsyncIterator() -> Iterator { Iterator(self) }
    }

    /// An iterator over the values.
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

        /// Returns the next value and the notes since the one before; nil if the task was cancelled or the sequence has ended.
        mutating func next() async -> (value: Value, notes: [Note])? {
            while await wait() {
                let current = published.current(since: number)
                if current.number == number { continue }
                number = current.number
                return (current.value, current.notes)
            }
            return nil
        }

        /// Waits until there may be a newer value. Returns false if the task was cancelled or the sequence has ended.
        mutating func wait() async -> Bool { await news.next() != nil && !Task.isCancelled }
    }

    /// The number of waiting consumers, for tests.
    var waitingCount: Int { state.withLock { $0.waiting.count } }
}

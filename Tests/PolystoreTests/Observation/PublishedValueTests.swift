import PolystoreStorage
import Testing

@testable import PolystoreObjects
@testable import PolystoreObservation

/// What is kept for those who are slow.
@Suite struct PublishedValueTests {
    private struct Note: PublishedNote {
        var size: Int
        var steps: [Int]

        var forgotten: Note { Note(size: 0, steps: steps) }

        func joined(with next: Note) -> Note? { Note(size: size + next.size, steps: steps + next.steps) }
    }

    @Test func noChangesAreKeptWithoutASubscriber() async {
        let published = PublishedValue<Int, Note>(0)
        for value in 1...3 { published.publish(value, Note(size: 1, steps: [value])) }
        #expect(published.current(since: 0).notes.isEmpty)
        var steps: PublishedValue<Int, Note>.Iterator? = published.steps(skipsFirst: true).makeAsyncIterator()
        for value in 4...5 { published.publish(value, Note(size: 1, steps: [value])) }
        let next = await steps?.next()
        #expect(next?.value == 5 && next?.notes.flatMap(\.steps) == [4, 5])
        steps = nil
        published.publish(6, Note(size: 1, steps: [6]))
        #expect(published.current(since: 5).notes.isEmpty)
    }

    @Test func keptChangesAreBounded() async {
        let published = PublishedValue<Int, Note>(0)
        var steps = published.steps(skipsFirst: true).makeAsyncIterator()
        for value in 1...500 {
            published.publish(value, Note(size: 60_000, steps: [value]))
            let notes = published.current(since: 0).notes
            #expect(notes.count <= 64 && notes.last?.size == 60_000)
            #expect(notes.dropLast().reduce(0) { $0 + $1.size } <= 10_000)
        }
        let next = await steps.next()
        #expect(next?.notes.flatMap(\.steps) == Array(1...500))
    }

    /// An object of the program, which asks what is there when it goes away.
    private final class Asking: Sendable {
        private let ask: @Sendable () -> Void
        init(_ ask: @escaping @Sendable () -> Void) { self.ask = ask }
        deinit { ask() }
    }

    @Test func aReleasedValueMayReadTheNext() {
        let published = PublishedValue<Asking?, Note>(nil)
        published.publish(Asking { #expect(published.value == nil) }, Note(size: 0, steps: []))
        published.publish(nil, Note(size: 0, steps: []))
    }
}

/// What is kept for those who have not looked.
@Suite struct CommitMailboxTests {
    /// A deletion of so many objects, of which a text is preserved.
    private func deletion(_ count: Int64) -> CommittedChanges {
        let text = Value.string(String(repeating: "x", count: 200))
        let changes = HistoryChanges((1...count).map { HistoryChange(entity: 0, key: $0, kind: .delete, tombstone: [1: text]) })
        return CommittedChanges([.init(store: 0, token: nil, changes: changes)], author: "")
    }

    @Test func aMailboxWithoutTombstonesDropsPreservedValues() {
        let mailbox = CommitMailbox()
        for _ in 0..<3 { mailbox.receive(deletion(100)) }
        let changes = mailbox.take().flatMap(\.parts).map(\.changes)
        #expect(changes.map { $0?.count } == [100, 100, 100])
        #expect(changes.allSatisfy { $0?.allSatisfy { $0.kind == .delete && $0.tombstone.isEmpty } ?? false })
    }

    @Test func preservedValuesOfDeletedObjectsAreBounded() {
        // Each takes about 300 bytes, and each is a run.
        let mailbox = CommitMailbox(capacity: 250, keepsTombstones: true)
        mailbox.receive(deletion(100))
        #expect(mailbox.take().first?.parts.first?.changes?.first?.tombstone.count == 1)
        for _ in 0..<2 { mailbox.receive(deletion(100)) }
        #expect(mailbox.take().map(\.size) == [1])
    }
}

import Foundation
import Polystore
import PolystoreCatalog

/// A script of commits, for a test in which a call of the system fails: polystore-crash --script URL COUNT [WRITERS]. A failure does not end
/// it: what comes next is tried, as a program that goes on would. It says what was acknowledged and what failed with which code, and the token of a
/// commit whose outcome is unknown.
///
/// polystore-crash --script-verify URL [WRITERS] says which commits are there, --script-outcome URL TOKEN what became of one.
///
/// Commit n makes note n, adds n to a sum, and deletes note n - 3: what a store must hold follows from the set of its commits. Of several
/// writers each makes every so many commits, and deletes its own last but two.
struct Scripted: Sendable {
    let url: String
    var writers = 1

    /// The distance of a commit to that whose note it deletes.
    private var distance: Int64 { Int64(3 * writers) }

    private static func schema() throws -> Schema {
        try Schema(
            version: "1",
            entities: [
                Entity("Mark", attributes: [Attribute("number", .int64)], uniqueConstraints: [UniqueConstraint(["number"])]),
                Entity("Note", attributes: [Attribute("number", .int64), Attribute("text", .string)], indexes: [Index(["number"])]),
                Entity("Total", attributes: [Attribute("sum", .int64)]),
            ])
    }

    /// The text of a note: every third one fills several pages.
    private static func text(_ number: Int64) -> String { String(repeating: "\(number) ", count: number % 3 == 0 ? 4_000 : 20) }

    private func say(_ line: String) { FileHandle.standardOutput.write(Data("\(line)\n".utf8)) }

    private func tell(_ what: String, _ work: () throws -> Void) {
        do {
            try work()
            say("\(what) done")
        } catch let error as StorageError {
            let token = error.details.commit.map { " \($0)" } ?? ""
            say("\(what) \(error.code)\(token)")
        } catch {
            say("\(what) \(error)")
        }
    }

    private func stack() throws -> DataStack {
        let stack = try DataStack(schema: Self.schema())
        try stack.addStorageAndWait(StoreCatalog.standard.store(at: StoreURL(url), configuration: nil))
        return stack
    }

    /// Runs the script. A store that cannot be opened is tried to be opened once more.
    func run(_ count: Int) throws {
        var opened: DataStack?
        for _ in 1...2 where opened == nil { tell("open") { opened = try stack() } }
        guard let stack = opened else { return }
        let writing = DispatchGroup()
        for writer in 0..<writers {
            DispatchQueue(label: "writer \(writer)").async(group: writing) {
                for number in stride(from: Int64(1 + writer), through: Int64(count), by: writers) {
                    tell("\(number)") { try commit(number, stack) }
                }
            }
        }
        writing.wait()
        tell("read") { _ = try stack.fetchCount(From<DynamicObject>(entity: "Mark")) }
    }

    private func note(_ number: Int64) -> From<DynamicObject> {
        From<DynamicObject>(entity: "Note").where(Where(.compare(.path(PropertyPath("number")), .equal, .value(.int(number)))))
    }

    private func commit(_ number: Int64, _ stack: DataStack) throws {
        try stack.perform(synchronous: { transaction in
            try transaction.create(Into<DynamicObject>(entity: "Mark")).setValue(.int(number), for: "number")
            let made = try transaction.create(Into<DynamicObject>(entity: "Note"))
            try made.setValue(.int(number), for: "number")
            try made.setValue(.string(Self.text(number)), for: "text")
            let total =
                try transaction.fetchOne(From<DynamicObject>(entity: "Total"))
                ?? transaction.create(Into<DynamicObject>(entity: "Total"))
            let sum = if case .int(let sum) = try total.value("sum") { sum } else { Int64(0) }
            try transaction.edit(total)?.setValue(.int(sum + number), for: "sum")
            if let old = try transaction.fetchOne(note(number - distance)) { try transaction.delete(old) }
        })
    }

    private static func int(_ object: DynamicObject, _ name: String) throws -> Int64 {
        guard case .int(let number) = try object.value(name) else { return .min }
        return number
    }

    /// The numbers of the commits that are there, when everything else follows from them; what is wrong else.
    func verify() throws -> String {
        let stack = try stack()
        let marks = try stack.fetchAll(From<DynamicObject>(entity: "Mark")).map { try Self.int($0, "number") }.sorted()
        var expected: Set<Int64> = []
        for number in marks {
            expected.insert(number)
            expected.remove(number - distance)
        }
        let notes = try stack.fetchAll(From<DynamicObject>(entity: "Note"))
        guard try notes.map({ try Self.int($0, "number") }).sorted() == expected.sorted() else { return "the notes are wrong" }
        for note in notes where try note.value("text") != .string(Self.text(try Self.int(note, "number"))) { return "a text is wrong" }
        for number in marks where try stack.fetchCount(self.note(number)) != (expected.contains(number) ? 1 : 0) {
            return "the index is wrong"
        }
        let totals = try stack.fetchAll(From<DynamicObject>(entity: "Total")).map { try Self.int($0, "sum") }
        guard totals == (marks.isEmpty ? [] : [marks.reduce(0, +)]) else { return "the total is wrong" }
        let history = try stack.history().transactions
        guard history.count == marks.count else { return "the history is wrong: \(history.count) entries" }
        return marks.map(String.init).joined(separator: " ")
    }

    /// What became of a commit.
    func outcome(_ text: String) throws -> String {
        let store = try StoreCatalog.standard.store(at: StoreURL(url), configuration: nil)
        _ = try store.open(OpenRequest(schema: nil, createIfMissing: false))
        defer { try? store.close() }
        guard let asked = store as? any CommitOutcomeStorage, let token = CommitToken(text) else { return "nothing" }
        return "\(try asked.outcome(of: token))"
    }
}

import Foundation
import Testing

#if canImport(Glibc)
import Glibc
#endif

/// `polystore history` over stores that were filled by `polystore load`.
@Suite struct HistoryCommandTests {
    private let program: Program
    private var folder: URL { program.folder }

    init() throws { program = try Program() }

    private static let stores = ["sqlite", "lmdb"]

    private func run(_ arguments: String...) throws -> (code: Int32, output: String, error: String) { try program.run(arguments) }

    /// A store whose history has an insert, an update, and a deletion with what the model preserves.
    private func store(_ kind: String) throws -> String {
        let model = try program.file(
            "model.json",
            #"{"entities": [{"name": "Note", "attributes": [{"name": "text", "type": "string", "history": "preserved"}]}]}"#)
        let store = "\(kind):\(folder.path)/notes.\(kind)"
        #expect(try run("load", store, program.file("none.csv", "text\n"), "--entity", "Note", "--model", model).code == 0)
        return store
    }

    private func lines(_ text: String) throws -> [[String: Any]] {
        try text.split(separator: "\n").map {
            try #require(try JSONSerialization.jsonObject(with: Data($0.utf8)) as? [String: Any])
        }
    }

    /// Adds an entry as a transaction writes it: kind, entity, the difference of the keys (zigzag), how many.
    private func commit(_ author: String, _ changes: String) throws {
        try program.sqlite3(
            "notes.sqlite", "INSERT INTO polystore_history(time, author, changes) VALUES(1700000000000000, '\(author)', x'\(changes)')")
    }

    @Test func transactionsAreListedWithAllChanges() throws {
        let store = try store("sqlite")
        let before = try lines(try run("history", store, "--json").output).count
        // Three inserts from key 1 on; an update of slot 0 of key 2; the deletion of key 3 with the text "x".
        try commit("a", "01000203")
        try commit("b", "02000100" + "0401")
        try commit("c", "05000601" + "010006" + "0178")
        let all = try lines(try run("history", store, "--json").output)
        try #require(all.count == before + 3)
        let found = Array(all.suffix(3))
        #expect(found.map { $0["author"] as? String } == ["a", "b", "c"])
        #expect(found[0]["time"] as? String == "2023-11-14T22:13:20Z")
        func change(_ index: Int) -> [String: Any] { (found[index]["changes"] as? [[String: Any]])?.first ?? [:] }
        #expect(
            change(0)["entity"] as? String == "Note" && change(0)["keys"] as? [Int] == [1, 3] && change(0)["change"] as? String == "insert")
        #expect(change(1)["keys"] as? [Int] == [2, 2] && change(1)["change"] as? String == "update")
        #expect(change(1)["properties"] as? [String] == ["text"])
        #expect(change(2)["change"] as? String == "delete" && change(2)["values"] as? [String: String] == ["text": "x"])
        let text = try run("history", store).output
        #expect(text.contains("\"a\"  Note +3 ~0 -0") && text.contains("\"c\"  Note +0 ~0 -1"))
        let token = try #require(found[0]["token"] as? String)
        #expect(try lines(try run("history", store, "--json", "--since", token).output).count == 2)
        #expect(try lines(try run("history", store, "--json", "--since", token, "--author", "c").output).count == 1)
        #expect(try lines(try run("history", store, "--json", "--since", token, "--not-author", "c", "--entity", "Note").output).count == 1)
        #expect(try lines(try run("history", store, "--json", "--since", token, "--limit", "1").output).count == 1)
        #expect(try run("history", store, "--entity", "Not").error.contains("did you mean \"Note\"?"))
        #expect(try run("history", store, "--since", "x").code == 64)
        #expect(try run("history", store, "--since", "00000000-0000-0000-0000-000000000001:3").code == 2)
        #expect(try run("history", "sqlite:\(folder.path)/missing.db").code == 2)
    }

    @Test func changesOfMembersAreNoUpdates() throws {
        let model = try program.file(
            "linked.json",
            #"{"entities": [{"name": "Note", "attributes": [{"name": "text", "type": "string"}], "#
                + #""relationships": [{"name": "likes", "to": "Note", "kind": "toMany"}]}]}"#)
        let store = "sqlite:\(folder.path)/notes.sqlite"
        #expect(try run("load", store, program.file("none.csv", "text\n"), "--entity", "Note", "--model", model).code == 0)
        // An insert of key 1 with a pair; pairs of keys 1 and 2; an update of slot 0 of key 1.
        try commit("a", "01000201" + "0400000101")
        try commit("b", "0400000202")
        try commit("c", "020001000201")
        let text = try run("history", store).output.split(separator: "\n").suffix(3).map { $0.split(separator: "  ").last ?? "" }
        #expect(text == ["Note +1 ~0 -0 links 1", "Note +0 ~0 -0 links 2", "Note +0 ~1 -0"])
        let change = try lines(try run("history", store, "--json", "--author", "b").output).first?["changes"] as? [[String: Any]]
        #expect(change?.first?["change"] as? String == "links" && change?.first?["relationship"] as? String == "likes")
    }

    @Test func aConsumerContinuesAtItsPosition() throws {
        let store = try store("sqlite")
        for author in ["a", "b", "c"] { try commit(author, "01000201") }
        let first = try lines(
            try run("history", store, "--json", "--consumer", "index", "--limit", "2", "--author", "a", "--author", "b").output)
        #expect(first.map { $0["author"] as? String } == ["a", "b"])
        #expect(try run("history", "consumers", store).output.contains("index  "))
        let status = try lines(try run("history", "consumers", store, "--json").output)
        #expect(status.map { $0["behind"] as? Int } == [1] && status[0]["expired"] as? Bool == false)
        let purge = try run("history", "purge", store, "--older-than", "1d")
        #expect(purge.code == 0 && purge.output.contains("held back by index"))
        let rest = try lines(try run("history", store, "--json", "--consumer", "index").output)
        #expect(rest.map { $0["author"] as? String } == ["c"])
        #expect(try run("history", store, "--json", "--consumer", "index").output.isEmpty)
        let all = try lines(try run("history", "purge", store, "--acknowledged", "--json").output)
        #expect(all.first?["removed"] as? Int == 1 && all.first?["heldBackBy"] as? [String] == [])
        #expect(try run("history", store).output.isEmpty)
        #expect(try run("history", "consumers", store, "--forget", "index").output.isEmpty)
        #expect(try run("history", "consumers", store, "--forget", "index").code == 2)
        #expect(try run("history", "purge", store).code == 64)
        #expect(try run("history", "purge", store, "--older-than", "soon").code == 64)
    }

    @Test func followingContinuesUntilItIsInterrupted() throws {
        let store = try store("sqlite")
        try commit("a", "01000201")
        let feed = try Feed(["history", store, "--follow"])
        #expect(try lines(feed.lines(1)).map { $0["author"] as? String } == ["a"])
        try commit("b", "01000201")
        let next = try lines(feed.lines(1))
        #expect(next.map { $0["author"] as? String } == ["b"])
        #expect(feed.end(SIGINT) == 0)
        try commit("c", "01000201")
        // Resumed by its token it misses nothing.
        let token = try #require(next.first?["token"] as? String)
        let resumed = try Feed(["history", store, "--follow", "--since", token])
        #expect(try lines(resumed.lines(1)).map { $0["author"] as? String } == ["c"])
        #expect(resumed.end(SIGTERM) == 0)
    }

    @Test func followingEndsWhenTheReaderHasEnded() throws {
        let feed = try Feed(["history", try store("sqlite"), "--follow"])
        feed.stopReading()
        #expect(feed.wait() == 0)
    }

    @Test(arguments: stores) func everyStoreAnswers(_ kind: String) throws {
        let store = try store(kind)
        #expect(try run("history", store, "--json").code == 0)
        #expect(try run("history", "consumers", store).code == 0)
        #expect(try run("history", "purge", store, "--acknowledged").output == "0 transactions deleted\n")
        let off = try run("history", store + "?history=off")
        #expect(off.code == 2 && off.error.contains("records no history"))
    }
}

/// A program that goes on.
private final class Feed {
    private let process: Process
    private let output = Pipe()
    private var text = Data()

    init(_ arguments: [String]) throws {
        process = Program.process(arguments)
        process.standardOutput = output
        process.standardError = FileHandle.standardError
        try process.run()
    }

    /// The next lines, waited for.
    func lines(_ count: Int) -> String {
        let end = Date() + 20
        while text.split(separator: 10).count < count, Date() < end {
            var ready = pollfd(fd: output.fileHandleForReading.fileDescriptor, events: Int16(POLLIN), revents: 0)
            if poll(&ready, 1, 100) > 0 { text += output.fileHandleForReading.availableData }
        }
        defer { text = Data() }
        return String(decoding: text, as: UTF8.self)
    }

    func stopReading() { try? output.fileHandleForReading.close() }

    /// Ends the program with a signal.
    func end(_ signal: Int32) -> Int32 {
        kill(process.processIdentifier, signal)
        return wait()
    }

    /// How the program ended; -1 where it did not within ten seconds.
    func wait() -> Int32 {
        let end = Date() + 10
        while process.isRunning, Date() < end { Thread.sleep(forTimeInterval: 0.02) }
        if process.isRunning {
            process.terminate()
            return -1
        }
        return process.terminationReason == .exit ? process.terminationStatus : -2
    }
}

internal import ArgumentParser
internal import Foundation
internal import PolystoreStorage
internal import PolystoreTransfer

/// `polystore info`.
struct InfoCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "info", abstract: "Shows the model, entities, counts, history and capabilities of a store.")

    @Argument(help: "The store to read, as a URL.", completion: ShellCompletion.store)
    var store: String

    @Flag(help: "Print JSON.")
    var json = false

    func run() throws {
        let opened = try Stores.open(store, acceptsIncompleteCopy: true)
        defer { opened.close() }
        let reader = try opened.store.beginRead()
        defer { reader.end() }
        let contents = Contents(reader)
        var counts: [(String, Int)] = []
        for root in opened.schema.roots { counts.append((opened.schema.entities[root].name, try contents.count(root))) }
        let position = try reader.currentToken()?.position
        let isIncomplete = try reader.note(CopyNote.incomplete) != nil
        let remarks = opened.remarks + (isIncomplete ? ["the store contains an incomplete copy; repeat the transfer to complete it"] : [])
        let capabilities = opened.store.capabilities.supported.map(\.description).sorted()
        if json {
            let entities = counts.map { "{\"name\":\(JSONWriter.quoted($0.0)),\"objects\":\($0.1)}" }.joined(separator: ",")
            Console.print(
                "{\"store\":\(JSONWriter.quoted(opened.url.redacted)),\"version\":\(JSONWriter.quoted(opened.schema.version)),"
                    + "\"hash\":\"\(opened.schema.hash)\",\"entities\":[\(entities)],\"history\":\(position.map(String.init) ?? "null"),"
                    + "\"capabilities\":[\(capabilities.map(JSONWriter.quoted).joined(separator: ","))],"
                    + "\"remarks\":[\(remarks.map(JSONWriter.quoted).joined(separator: ","))]}")
            return
        }
        Console.print("\(opened.url.redacted)  store \(opened.state.storeID.uuidString.lowercased())  format \(opened.state.formatVersion)")
        Console.print("model version \(opened.schema.version)  \(opened.schema.hash.description.prefix(16))")
        for (name, count) in counts { Console.print("  \(name.padding(24)) \(count)") }
        Console.print("history up to \(position.map(String.init) ?? "nothing")")
        Console.print("can: \(capabilities.joined(separator: ", "))")
        for remark in remarks { Console.print("note: \(remark)") }
    }
}

extension String {
    /// Returns the text padded with trailing spaces to at least the given length.
    func padding(_ width: Int) -> String { self + String(repeating: " ", count: max(0, width - TerminalWidth.of(self))) }
}

internal import ArgumentParser
internal import PolystoreStorage
internal import PolystoreTransfer

/// `polystore dump`.
struct DumpCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "dump", abstract: "Writes an archive of a store: its model and all objects as JSON, one object per line.",
        discussion: """
            polystore restore creates a store from an archive, of any kind. An archive contains keys, versions and relationships, and digests by \
            which damage is noticed, and the history of the store unless --no-history is given, as for a history that is damaged. A file whose name ends with .gz is compressed. An archive with the same name is replaced when the new one is complete, and \
            any other file is kept.
            """)

    @Argument(help: "The store to read, as a URL.", completion: ShellCompletion.store)
    var store: String

    @Option(name: .shortAndLong, help: "The file to write instead of the standard output (-).")
    var output: String?

    @Flag(help: "Leave out the history.")
    var noHistory = false

    func run() throws {
        let output = output == "-" ? nil : output
        let opened = try Stores.open(store, isScanned: true)
        defer { opened.close() }
        try output.map { path throws(StorageError) in
            try Stores.checkIsNoPart(path, of: opened)
            try Stores.check(output: path, from: store)
            try Stores.check(replacing: path, "an archive") { try Stores.hasMark($0, [#"{"polystore":"archive""#], atStart: true) }
        }
        try opened.check()
        for note in opened.remarks { Console.error("note: \(note)") }
        Interruption.watch()
        let reader = try opened.store.beginRead(ReadOptions(limit: Interruption.limit))
        defer { reader.end() }
        let file = try OutputFile(output), hasHistory = !noHistory && opened.store.capabilities.contains(.history)
        if hasHistory, try reader.hasUnsettledHistory() {
            Console.error("note: the newest transactions are not in the history yet, because older ones are still open")
        }
        try ArchiveWriter(Contents(reader), history: hasHistory ? reader : nil).write { bytes throws(StorageError) in try file.write(bytes)
        }
        try file.finish()
    }
}

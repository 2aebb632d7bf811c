internal import ArgumentParser
internal import Foundation
internal import PolystoreStorage
internal import PolystoreTransfer

/// `polystore dump`.
struct DumpCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "dump", abstract: "Writes all objects of a store as JSON, one object per line.")

    @Argument(help: "The store to read, as a URL.")
    var store: String

    @Option(name: .shortAndLong, help: "The file to write instead of the standard output.")
    var output: String?

    func run() throws {
        let opened = try Stores.open(store)
        defer { opened.close() }
        try output.map { path throws(StorageError) in
            try Stores.checkIsNoPart(path, of: opened)
            try Stores.check(output: path, from: store)
        }
        try opened.check()
        Interruption.watch()
        let reader = try opened.store.beginRead(ReadOptions(limit: Interruption.limit))
        defer { reader.end() }
        let file = try output.map { path throws(StorageError) in try AtomicFile(path) }
        var buffer = Data()
        func flush() throws(StorageError) {
            if let file { try file.write(buffer) } else { try Console.write(buffer) }
            buffer.removeAll(keepingCapacity: true)
        }
        try Dump(Contents(reader)).lines { line throws(StorageError) in
            buffer += Data((line + "\n").utf8)
            if buffer.count > 1 << 20 { try flush() }
        }
        try flush()
        try file?.finish()
    }
}

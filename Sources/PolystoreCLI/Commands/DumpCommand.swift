internal import ArgumentParser
internal import Foundation
internal import PolystoreStorage
internal import PolystoreTransfer

/// `polystore dump`.
struct DumpCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "dump", abstract: "Writes everything in a store as one JSON object a line.")

    @Argument(help: "The store.")
    var store: String

    @Option(name: .shortAndLong, help: "A file instead of the output.")
    var output: String?

    func run() throws {
        let opened = try Stores.open(store)
        defer { opened.close() }
        let reader = try opened.store.beginRead()
        defer { reader.end() }
        let handle = try file()
        var buffer = Data()
        try Dump(Contents(reader, opened.schema)).lines { line in
            buffer += Data((line + "\n").utf8)
            if buffer.count > 1 << 20 {
                handle.write(buffer)
                buffer.removeAll(keepingCapacity: true)
            }
        }
        handle.write(buffer)
    }

    private func file() throws(StorageError) -> FileHandle {
        guard let output else { return .standardOutput }
        guard FileManager.default.createFile(atPath: output, contents: nil), let handle = FileHandle(forWritingAtPath: output) else {
            throw StorageError(.permissionDenied, "the file \(output) cannot be written")
        }
        return handle
    }
}

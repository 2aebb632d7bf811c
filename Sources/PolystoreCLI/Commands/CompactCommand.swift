internal import ArgumentParser
internal import PolystoreStorage
internal import PolystoreTransfer

/// `polystore compact`.
struct CompactCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "compact", abstract: "Returns the space of deleted objects of a store in a file to the file system.")

    @Argument(help: "The store, as a URL.", completion: ShellCompletion.store)
    var store: String

    @Flag(help: "Print JSON.")
    var json = false

    func run() throws {
        let opened = try Stores.open(store, readOnly: false)
        defer { opened.close() }
        guard let storage = opened.store.ability((any LocalStorage).self) else {
            throw StorageError(
                .unsupported, "\(opened.url.redacted) is not in a file; its server reuses the space of deleted objects by itself")
        }
        let before = try storage.fileSize()
        try storage.compact()
        let after = try storage.fileSize()
        Console.report(
            json ? JSONText.object([("before", "\(before)"), ("after", "\(after)")]) : "\(before) bytes before, \(after) bytes now")
    }
}

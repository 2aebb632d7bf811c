internal import ArgumentParser
internal import Foundation
internal import PolystoreStorage

/// `polystore backup`.
struct BackupCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "backup", abstract: "Writes a copy of a store in a file, while programs may read and write it.",
        discussion: """
            The copy is a store of the same kind with the same identity and history: it can replace the store, but cannot be used beside it in \
            one program. Stores on a server are copied by polystore dump, by polystore transfer, or by the tools of the server.
            """)

    @Argument(help: "The store to copy, as a URL.")
    var store: String

    @Argument(help: "The path of the copy, which must not exist.")
    var path: String

    func run() throws {
        let opened = try Stores.open(store)
        defer { opened.close() }
        guard let storage = opened.store.ability((any LocalStorage).self) else {
            throw StorageError(
                .unsupported, "\(opened.url.redacted) is not in a file; polystore dump writes an archive of it, polystore transfer a copy")
        }
        try storage.backup(to: URL(fileURLWithPath: path))
    }
}

internal import ArgumentParser
internal import Foundation
internal import PolystoreBrowse
internal import PolystoreBrowsing
internal import PolystoreCatalog
internal import PolystoreStorage
internal import ServiceLifecycle
internal import UnixSignals

/// The program `polystore-browse`.
@main
struct BrowseCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "polystore-browse", abstract: "Shows a store in a web browser on this machine, without changing it.",
        discussion: """
            The address that is printed works once, in one browser. The server listens on 127.0.0.1 only; Control-C ends it.

            Stores are specified as for the command polystore: sqlite:shop.db, lmdb:shop.lmdb, postgresql://user@host/database, env:VARIABLE, \
            sqlite:FILE?catalog=foreign for a database of another program, or the path of an existing file.
            """)

    @Argument(help: "The store to read, as a URL.")
    var store: String

    @Option(help: "The port to listen on, instead of any free one.")
    var port = 0

    @Flag(help: "Open the address in the web browser of the system.")
    var open = false

    func validate() throws {
        if !(0...65_535).contains(port) { throw ValidationError("--port must be from 1 to 65535") }
    }

    func run() async throws {
        do {
            try await serve()
        } catch let error as StorageError {
            try? FileHandle.standardError.write(contentsOf: Data("polystore-browse: \(error.message)\n".utf8))
            throw ExitCode(2)
        }
    }

    private func serve() async throws {
        // A visitor who leaves closes a connection, which is not an end of the program.
        signal(SIGPIPE, SIG_IGN)
        let catalog = StoreCatalog.standard, url = try catalog.url(for: store)
        let opened = try OpenStore(opening: catalog.store(at: url), OpenRequest(schema: nil, createIfMissing: false, readOnly: true))
        defer { try? opened.close() }
        let opensBrowser = open
        let server = BrowseServer(StoreBrowser(opened, name: url.redacted), port: port) { address in
            try? FileHandle.standardOutput.write(contentsOf: Data("\(address)\n".utf8))
            if opensBrowser { Self.show(address) }
        }
        var configuration = ServiceGroupConfiguration(
            services: [.init(service: server)], gracefulShutdownSignals: [.sigint, .sigterm], logger: QuietLogger.logger)
        configuration.maximumGracefulShutdownDuration = .seconds(2)
        try await ServiceGroup(configuration: configuration).run()
    }

    /// Opens an address in the web browser of the system. The address is printed too, so a system without one is no failure.
    private static func show(_ address: String) {
        let process = Process()
        #if os(macOS)
        process.executableURL = URL(fileURLWithPath: "/usr/bin/open")
        #else
        process.executableURL = URL(fileURLWithPath: "/usr/bin/xdg-open")
        #endif
        process.arguments = [address]
        process.standardOutput = FileHandle.nullDevice
        process.standardError = FileHandle.nullDevice
        try? process.run()
    }
}

internal import HTTPTypes
internal import HummingbirdCore
internal import Logging
internal import NIOCore
internal import NIOPosix
public import PolystoreBrowsing
internal import PolystoreStorage
public import ServiceLifecycle

/// A web server that shows the pages of a store browser to the person who started it.
///
/// It listens on the loopback address of this machine only. A visitor needs the address that the server reports, which contains a token that
/// works once and is exchanged for a session cookie. Requests that name another host are refused, so that no page of the web can reach the
/// server through a name of its own. Nothing that a request does changes the store.
///
/// ```swift
/// let server = BrowseServer(StoreBrowser(store, name: "shop")) { address in print(address) }
/// try await server.run()
/// ```
public struct BrowseServer: Service {
    private let browser: StoreBrowser
    private let port: Int
    private let onReady: @Sendable (String) -> Void
    private let gate = SessionGate()

    /// Creates a server.
    ///
    /// - Parameters:
    ///   - browser: The browser of an open store.
    ///   - port: The port on which the server listens; 0 for any free port.
    ///   - onReady: A closure that receives the address to visit, once the server listens.
    public init(_ browser: StoreBrowser, port: Int = 0, onReady: @escaping @Sendable (String) -> Void) {
        self.browser = browser
        self.port = port
        self.onReady = onReady
    }

    /// Serves until the task is cancelled or the group of services is shut down.
    ///
    /// - Throws: `invalidConfiguration` if the port cannot be used.
    public func run() async throws {
        guard (0...65_535).contains(port) else {
            throw StorageError(.invalidConfiguration, "the port \(port) does not exist; choose one from 1 to 65535, or 0 for any free port")
        }
        var logger = Logger(label: "polystore-browse")
        logger.logLevel = .critical
        let threads = NIOThreadPool(numberOfThreads: 8)
        threads.start()
        let responder = BrowseResponder(browser, gate, threads), gate = gate, onReady = onReady
        let server = try HTTPServerBuilder.http1().buildServer(
            configuration: ServerConfiguration(
                address: .hostname("127.0.0.1", port: port), availableConnectionsDelegate: MaximumAvailableConnections(100)),
            eventLoopGroup: MultiThreadedEventLoopGroup.singleton, logger: logger
        ) { request, writer, channel in
            let response = await responder.answer(request, port: channel.localAddress?.port)
            try await writer.write(response: response.head, body: response.body)
        } onServerRunning: { channel in
            onReady("http://127.0.0.1:\(channel.localAddress?.port ?? 0)/?token=\(gate.token)")
        }
        do { try await server.run() } catch let error as IOError {
            throw StorageError(
                .invalidConfiguration, "the server cannot listen on port \(port); another program may use it: choose another port, or none",
                cause: error)
        }
        try? await threads.shutdownGracefully()
    }
}

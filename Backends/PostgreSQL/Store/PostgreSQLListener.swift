#if PostgreSQL
internal import CLibPQ
internal import Foundation
internal import PolystoreSQL
internal import PolystoreStorage
internal import Synchronization

/// What the programs that have one store open tell each other, through the server's NOTIFY.
enum PostgreSQLEvent: Hashable, Sendable {
    case joining(String), joined(String), leaving(String), left(String), erasing, erased

    init?(payload: String) {
        let parts = payload.split(separator: " ", maxSplits: 1).map(String.init)
        switch (parts.first, parts.dropFirst().first) {
        case ("joining", let peer?): self = .joining(peer)
        case ("joined", let peer?): self = .joined(peer)
        case ("leaving", let peer?): self = .leaving(peer)
        case ("left", let peer?): self = .left(peer)
        case ("erasing", nil): self = .erasing
        case ("erased", nil): self = .erased
        default: return nil
        }
    }

    var payload: String {
        switch self {
        case .joining(let peer): "joining \(peer)"
        case .joined(let peer): "joined \(peer)"
        case .leaving(let peer): "leaving \(peer)"
        case .left(let peer): "left \(peer)"
        case .erasing: "erasing"
        case .erased: "erased"
        }
    }

    /// The channel of a schema; names of channels are cut at 63 bytes.
    static func channel(_ schema: String) -> String { "polystore_" + SchemaHash(of: "polystore channel \(schema)").description.prefix(32) }

    /// Statements that tell everybody who listens.
    static func notify(_ events: [PostgreSQLEvent], _ schema: String) -> String {
        events.map { "NOTIFY \(channel(schema)), '\($0.payload)'" }.joined(separator: "; ")
    }
}

/// A thread that waits on a connection of its own for what others tell; a lost connection is made anew.
final class PostgreSQLListener: Sendable {
    private static let patience: Int32 = 200
    private static let longestPause = 5.0

    private let isStopped = Atomic(false)
    private let schema: String
    private let connect: @Sendable () throws -> PostgreSQLConnection
    private let onEvent: @Sendable (PostgreSQLEvent) -> Void
    /// The name of this program among its peers: a lost connection is told as its leaving.
    private let own: String

    init(
        schema: String, own: String, connect: @escaping @Sendable () throws -> PostgreSQLConnection,
        onEvent: @escaping @Sendable (PostgreSQLEvent) -> Void
    ) {
        self.schema = schema
        self.own = own
        self.connect = connect
        self.onEvent = onEvent
        let thread = Thread { self.run() }
        thread.name = "polystore-listener"
        thread.start()
    }

    func stop() { isStopped.store(true, ordering: .releasing) }

    private var isRunning: Bool { !isStopped.load(ordering: .acquiring) }

    private func run() {
        var pause = 0.1, wasLost = false
        while isRunning {
            guard let connection = try? connect(), (try? connection.execute("LISTEN \(PostgreSQLEvent.channel(schema))")) != nil else {
                Thread.sleep(forTimeInterval: pause)
                pause = min(pause * 2, Self.longestPause)
                continue
            }
            pause = 0.1
            if wasLost { for event in [PostgreSQLEvent.joining(own), .joined(own)] { onEvent(event) } }
            wasLost = !listen(connection)
            if wasLost, isRunning { for event in [PostgreSQLEvent.leaving(own), .left(own)] { onEvent(event) } }
        }
    }

    /// Hands on what comes until the listener is stopped; false when the connection is lost.
    private func listen(_ connection: PostgreSQLConnection) -> Bool {
        while isRunning {
            guard let payloads = connection.notifications(wait: Self.patience) else { return false }
            for payload in payloads { if let event = PostgreSQLEvent(payload: payload), !isOwn(event) { onEvent(event) } }
        }
        return true
    }

    private func isOwn(_ event: PostgreSQLEvent) -> Bool {
        [.joining(own), .joined(own), .leaving(own), .left(own)].contains(event)
    }
}

extension PostgreSQLConnection {
    /// What was told on the channels that the connection listens to, waiting for at most so many milliseconds; nil when it is lost.
    func notifications(wait milliseconds: Int32) -> [String]? {
        var descriptor = pollfd(fd: PQsocket(handle), events: Int16(POLLIN), revents: 0)
        if descriptor.fd < 0 { return nil }
        _ = poll(&descriptor, 1, milliseconds)
        if PQconsumeInput(handle) == 0 || PQstatus(handle) != CONNECTION_OK { return nil }
        var payloads: [String] = []
        while let notification = PQnotifies(handle) {
            if let text = notification.pointee.extra { payloads.append(String(cString: text)) }
            PQfreemem(notification)
        }
        return payloads
    }
}
#endif

#if PostgreSQL
internal import PolystoreStorage

/// The messages that programs with the same store exchange through the server's NOTIFY.
enum PostgreSQLEvent: Hashable, Sendable {
    case joining(String), joined(String), leaving(String), left(String), erasing, erased
    /// A program has written a history entry.
    case history(String)
    /// A program has made changes that the history does not record; empty for a program that does not use Polystore.
    case unknown(String)

    init?(payload: String) {
        let parts = payload.split(separator: " ", maxSplits: 1).map(String.init)
        switch (parts.first, parts.dropFirst().first) {
        case ("joining", let peer?): self = .joining(peer)
        case ("joined", let peer?): self = .joined(peer)
        case ("leaving", let peer?): self = .leaving(peer)
        case ("left", let peer?): self = .left(peer)
        case ("erasing", nil): self = .erasing
        case ("erased", nil): self = .erased
        case ("history", let peer): self = .history(peer ?? "")
        case ("unknown", let peer): self = .unknown(peer ?? "")
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
        case .history(let peer): "history \(peer)"
        case .unknown(let peer): "unknown \(peer)"
        }
    }

    /// Whether the event was sent by, or is about, a program.
    func isOf(_ name: String) -> Bool {
        switch self {
        case .joining(let peer), .joined(let peer), .leaving(let peer), .left(let peer), .history(let peer), .unknown(let peer):
            peer == name
        case .erasing, .erased: false
        }
    }

    /// Returns the channel of a schema. The server truncates channel names to 63 bytes.
    static func channel(_ schema: String) -> String { "polystore_" + SchemaHash(of: "polystore channel \(schema)").description.prefix(32) }

    /// Returns statements that notify all listeners.
    static func notify(_ events: [PostgreSQLEvent], _ schema: String) -> String {
        events.map { "NOTIFY \(channel(schema)), '\($0.payload)'" }.joined(separator: "; ")
    }
}
#endif

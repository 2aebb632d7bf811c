#if PostgreSQL
internal import PolystoreStorage

/// What the programs that have one store open tell each other, through the server's NOTIFY.
enum PostgreSQLEvent: Hashable, Sendable {
    case joining(String), joined(String), leaving(String), left(String), erasing, erased
    /// The history has an entry of a program.
    case history(String)
    /// A program has changed what the history does not name; empty for a program that is none of ours.
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

    /// Whether it speaks of a program.
    func isOf(_ name: String) -> Bool {
        switch self {
        case .joining(let peer), .joined(let peer), .leaving(let peer), .left(let peer), .history(let peer), .unknown(let peer):
            peer == name
        case .erasing, .erased: false
        }
    }

    /// The channel of a schema; names of channels are cut at 63 bytes.
    static func channel(_ schema: String) -> String { "polystore_" + SchemaHash(of: "polystore channel \(schema)").description.prefix(32) }

    /// Statements that tell everybody who listens.
    static func notify(_ events: [PostgreSQLEvent], _ schema: String) -> String {
        events.map { "NOTIFY \(channel(schema)), '\($0.payload)'" }.joined(separator: "; ")
    }
}
#endif

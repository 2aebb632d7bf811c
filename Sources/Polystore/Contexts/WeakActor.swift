internal import PolystoreStorage

/// A weakly referenced actor. The main actor is never released.
struct WeakActor: Sendable {
    private weak var other: (any Actor)?
    private let main: MainActor?

    init(_ actor: any Actor) {
        main = actor as? MainActor
        if main == nil { other = actor }
    }

    var actor: (any Actor)? { main ?? other }
}

internal import PolystoreStorage

/// A weakly referenced actor. The main actor is never released.
package struct WeakActor: Sendable {
    private weak var other: (any Actor)?
    private let main: MainActor?

    package init(_ actor: any Actor) {
        main = actor as? MainActor
        if main == nil { other = actor }
    }

    package var actor: (any Actor)? { main ?? other }
}

internal import PolystoreStorage

/// The reserved and not yet assigned primary keys of one hierarchy in one store.
final class KeyBlock {
    struct Place: Hashable {
        let store: Int
        let root: EntityIndex
    }

    let place: Place
    @exclusivity(unchecked) var next: Int64 = 0
    @exclusivity(unchecked) var end: Int64 = 0

    init(_ place: Place) { self.place = place }
}

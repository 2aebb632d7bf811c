internal import PolystoreStorage

/// The digest of pairs of a link table that are added in the order of their owners and ranks.
struct LinkDigest {
    private(set) var digest = Digest()
    private let isOrdered: Bool
    private var owner: Int64?
    private var position = 0

    init(_ description: LinkDescription) { isOrdered = description.isOrdered }

    mutating func add(_ pair: LinkPair) {
        position = pair.owner == owner ? position + 1 : 0
        owner = pair.owner
        digest.add(pair, position: isOrdered ? position : 0)
    }
}

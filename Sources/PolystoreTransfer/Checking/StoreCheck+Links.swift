internal import PolystoreStorage

extension StoreCheck {
    /// Checks that both ends of each pair of a link table exist, and that no pair is there twice.
    func checkPairs(_ link: Int, _ body: (CheckFinding) throws(StorageError) -> Void) throws(StorageError) {
        let description = schema.links[link]
        var owner: Int64?, members: Set<Int64> = []
        try session.links(link, side: .owner, keys: nil) { pairs throws(StorageError) in
            try limit?.check()
            for pair in pairs {
                if pair.owner != owner {
                    owner = pair.owner
                    members.removeAll(keepingCapacity: true)
                    if !exists(pair.owner, description.owner) {
                        try body(finding(description, pair.owner, "pairs exist although the object does not"))
                    }
                }
                if !exists(pair.member, description.member) {
                    let sentence = "has object \(pair.member) of \(name(description.member)) as a member, which does not exist"
                    try body(finding(description, pair.owner, sentence))
                }
                if !members.insert(pair.member).inserted {
                    try body(finding(description, pair.owner, "has object \(pair.member) as a member twice"))
                }
            }
        }
    }

    private func finding(_ link: LinkDescription, _ key: Int64, _ sentence: String) -> CheckFinding {
        CheckFinding(name(link.owner), key, link.ownerRelationship, sentence)
    }

    /// Checks that ordered to-many relationships whose members refer to their owner have a position for each of these members.
    func checkOrders(_ root: EntityIndex, _ body: (CheckFinding) throws(StorageError) -> Void) throws(StorageError) {
        for description in schema.descriptions where description.root == root {
            for item in description.relationships where item.declaredIn == description.index {
                guard case .orderedInverseSlot(let slot, let link) = item.place else { continue }
                try checkOrder(item, slot, link, body)
            }
        }
    }

    private func checkOrder(
        _ item: RelationshipDescription, _ slot: Int, _ link: Int, _ body: (CheckFinding) throws(StorageError) -> Void
    ) throws(StorageError) {
        let members = Set(schema[item.destination].family), description = schema.links[link]
        var scan = try RowScan(session, schema[item.destination].root), block: [(key: Int64, owner: Int64?)] = []
        func compare() throws(StorageError) {
            try limit?.check()
            let owners = try owners(link, block.map(\.key))
            for (key, owner) in block {
                let found = owners[key] ?? []
                if let owner, !found.contains(owner) {
                    try body(finding(description, owner, "has no position for object \(key), which refers to it"))
                }
                for other in found where other != owner {
                    try body(finding(description, other, "has a position for object \(key), which does not refer to it"))
                }
            }
            block.removeAll(keepingCapacity: true)
        }
        while let key = scan.key {
            if members.contains(scan.entity) { block.append((key, scan.cell(slot).isNull ? nil : scan.cell(slot).int)) }
            if block.count == Self.blockSize { try compare() }
            try scan.advance()
        }
        try compare()
    }

    /// Returns the owners of each member in a link table.
    private func owners(_ link: Int, _ keys: [Int64]) throws(StorageError) -> [Int64: [Int64]] {
        var owners: [Int64: [Int64]] = [:]
        if keys.isEmpty { return owners }
        try session.links(link, side: .member, keys: keys) { pairs throws(StorageError) in
            for pair in pairs { owners[pair.member, default: []].append(pair.owner) }
        }
        return owners
    }
}

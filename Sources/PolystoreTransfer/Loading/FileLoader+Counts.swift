internal import PolystoreStorage

/// The rules about the number of destinations, which only the load as a whole can satisfy.
extension FileLoader {
    /// Checks the numbers of destinations, and refuses the records by which a required one-to-one relationship is nil.
    ///
    /// Other violations end the load if they are there when no more records can be loaded.
    func checkCounts() throws(StorageError) {
        var unfilled: [LoadClaim.Object: (relationship: String, error: StorageError)] = [:]
        try counts.check(writer, limit) { root, key in
            keys[root]?.contains { $0.contains(key) } ?? false
        } violation: { object, rule, error throws(StorageError) in
            guard let rejects else { throw error }
            if rule.isToOne {
                unfilled[object] = (rule.relationship, error)
            } else if rejects.isTrying {
                throw error
            } else if violation == nil {
                violation = error
            }
        }
        if unfilled.isEmpty { return }
        for target in targets where unfilled.keys.contains(where: { $0.root == target.description.root }) {
            try forEachRecord(of: target) { record, _, object throws(StorageError) in
                guard let found = unfilled[object], let rejects else { return }
                rejects.refuse(target.place(of: record), target.refusal(line: record.line, found.error))
            }
        }
        // An object of the store is referred to no longer.
        for (object, found) in unfilled where !mustBeginAgain {
            let places = inverses.releases(of: object, found.relationship, schema)
            if places.isEmpty { throw found.error }
            for place in places { rejects?.refuse(place, targets[place.file].refusal(line: place.line, found.error)) }
        }
    }
}

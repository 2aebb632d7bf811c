internal import PolystoreObjects

/// The matching sections of two lists: those with equal names. Of sections with the same name, only the first one matches.
struct SectionPairs {
    /// For each section of the new list, its counterpart in the old one.
    let partners: [Int?]

    /// Determines the counterparts of the sections of a new list.
    init(old: [ListContents.Section], new: [ListContents.Section]) {
        if old.count == new.count, zip(old, new).allSatisfy({ $0.id == $1.id }) {
            self.init(same: old.count)
            return
        }
        var places: [ExactText: Int] = [:]
        places.reserveCapacity(old.count)
        for (section, one) in old.enumerated() where places[one.id] == nil { places[one.id] = section }
        self.init(partners: new.map { places.removeValue(forKey: $0.id) })
    }

    /// Creates the pairs of two lists with the same sections in the same order.
    init(same count: Int) { self.init(partners: Array(0..<count)) }

    private init(partners: [Int?]) { self.partners = partners }
}

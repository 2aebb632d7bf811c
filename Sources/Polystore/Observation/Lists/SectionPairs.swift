internal import PolystoreStorage

/// Which sections of two lists are the same: those with one name. Of a name that comes twice the first section counts.
struct SectionPairs {
    /// For each section of the new list its partner in the old one.
    let partners: [Int?]

    /// The partners of the sections of a new list.
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

    /// The sections of two lists that have the same ones in the same order.
    init(same count: Int) { self.init(partners: Array(0..<count)) }

    private init(partners: [Int?]) { self.partners = partners }
}

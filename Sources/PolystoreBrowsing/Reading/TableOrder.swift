internal import PolystoreStorage

/// The order of a table: by one property, or by the key.
struct TableOrder: Sendable, Hashable {
    /// The property; nil for the key.
    let property: String?
    let isDescending: Bool

    private static let key = "SELF"

    /// Creates an order from its text: a property, with a minus sign before it for the descending order. Ignores the name of a property
    /// by which objects cannot be sorted.
    init(_ text: String?, _ entity: EntityDescription) {
        let text = text ?? Self.key, isDescending = text.hasPrefix("-")
        let name = isDescending ? String(text.dropFirst()) : text
        let isSortable = entity.slot(name).map { Self.isSortable(entity.slots[$0]) } ?? false
        property = isSortable ? name : nil
        self.isDescending = isDescending && (isSortable || name == Self.key)
    }

    init(property: String?, isDescending: Bool) {
        self.property = property
        self.isDescending = isDescending
    }

    /// The text from which the order is created; nil for the order by ascending keys.
    var text: String? {
        property == nil && !isDescending ? nil : (isDescending ? "-" : "") + (property ?? Self.key)
    }

    static func isSortable(_ slot: Slot) -> Bool { slot.attribute.map { $0.coder == nil && $0.type != .data } ?? false }

    /// The order after a click on the heading of a property: ascending, then descending, then by keys.
    func toggled(_ property: String?) -> TableOrder {
        if property != self.property { return TableOrder(property: property, isDescending: false) }
        return isDescending ? TableOrder(property: nil, isDescending: false) : TableOrder(property: property, isDescending: true)
    }

    /// Whether objects are ordered by descending keys, in the order or in its reverse.
    func isDescendingByKey(reversed: Bool) -> Bool { property == nil && isDescending != reversed }

    /// Returns the terms of the order, or of its reverse. Stores return objects by ascending keys if there are none.
    func terms(reversed: Bool) -> [OrderTerm] {
        guard let property else { return isDescending == reversed ? [] : [OrderTerm(.object, ascending: false)] }
        return [OrderTerm(PropertyPath([property]), ascending: isDescending == reversed), OrderTerm(.object, ascending: !reversed)]
    }

    /// Returns the condition for objects behind one, in the order or in its reverse.
    ///
    /// - Parameters:
    ///   - value: The value of the property that the object has.
    ///   - key: The key of the object.
    func behind(_ value: Value, _ key: Int64, reversed: Bool) -> QueryPredicate {
        guard let property else {
            return .compare(.path(.object), isDescending == reversed ? .greater : .less, .value(.int(key)))
        }
        let path = QueryExpression.path(PropertyPath([property])), isAscending = isDescending == reversed
        func compare(_ comparison: Comparison, _ value: Value) -> QueryPredicate { .compare(path, comparison, .value(value)) }
        let tie = compare(.equal, value) && .compare(.path(.object), reversed ? .less : .greater, .value(.int(key)))
        // Nil is smaller than all values.
        switch (isAscending, value.isNull) {
        case (true, true): return tie || compare(.notEqual, .null)
        case (true, false): return tie || compare(.greater, value)
        case (false, true): return tie
        case (false, false): return tie || compare(.less, value) || compare(.equal, .null)
        }
    }
}

#if SQLite
internal import PolystoreSQL

/// A table of a many-to-many relationship, such as `Z_5TAGS` for the relationship `tags` of entity 5, with one key column for each side.
///
/// The name of a column consists of the number of the entity whose keys it contains and the relationship whose destination that entity is,
/// such as `Z_7TAGS` and `Z_5NOTES`. The order of the objects is in a separate column, such as `Z_FOK_7TAGS`.
struct CoreDataJoin {
    /// A key column.
    struct Side {
        /// The number of the entity; nil for the column of a relationship that is its own inverse.
        let number: Int16?
        /// The relationship whose destination the column contains, in upper case. A number at its end may exist only to make the name
        /// unique.
        let relationship: String
        let column: String
    }

    let table: String
    /// The entity number in the name of the table.
    let number: Int16
    /// The relationship in the name of the table.
    let relationship: String
    private let sides: [Side]
    private let columns: Set<String>

    /// Creates the join, or nil for a table of another kind.
    init?(_ table: String, columns: [String]) {
        guard let (number, name) = Self.parts(table) else { return nil }
        self.table = table
        self.number = number
        relationship = name
        self.columns = Set(columns)
        sides = columns.filter { !$0.hasPrefix("Z_FOK_") }.sorted().compactMap { column in
            if column == "REFLEXIVE" { return Side(number: nil, relationship: column, column: column) }
            return Self.parts(column).map { Side(number: $0.number, relationship: $0.name, column: column) }
        }
        if sides.count != 2 { return nil }
    }

    /// Returns the number and the name in a text such as `Z_5TAGS`.
    private static func parts(_ text: String) -> (number: Int16, name: String)? {
        guard text.hasPrefix("Z_") else { return nil }
        let digits = text.dropFirst(2).prefix { $0.isASCII && $0.isNumber }
        let name = text.dropFirst(2 + digits.count)
        guard let number = Int16(digits), !name.isEmpty else { return nil }
        return (number, String(name))
    }

    /// The two sides: the member's column contains the destinations of the relationship that names the table.
    var ends: (owner: Side, member: Side)? {
        let named = sides.indices.filter { sides[$0].relationship == relationship }
        // Where both columns have this name, the owner is the entity that names the table.
        let member = named.count == 2 ? sides.firstIndex { $0.number != number } : named.first
        return member.map { (sides[1 - $0], sides[$0]) }
    }

    /// Returns the column with the order of the objects of a side, or nil when there is none.
    func order(of side: Side) -> String? {
        let name = "Z_FOK_" + (side.column.hasPrefix("Z_") ? String(side.column.dropFirst(2)) : side.column)
        return columns.contains(name) ? name : nil
    }

    /// Returns the statement that selects the pairs.
    ///
    /// - Parameter order: The column with the rank, or nil.
    func select(owner: Side, member: Side, order: String?) -> String {
        let rank = order.map(CoreDataFile.rank) ?? "0"
        let a = "t.\(SQLText.quoted(owner.column))", b = "t.\(SQLText.quoted(member.column))"
        return
            "SELECT \(a) AS \"owner\", \(rank) AS \"rank\", \(b) AS \"member\" FROM main.\(SQLText.quoted(table)) AS t "
            + "WHERE \(a) IS NOT NULL AND \(b) IS NOT NULL"
    }
}
#endif

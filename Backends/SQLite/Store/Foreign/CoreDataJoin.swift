#if SQLite
internal import PolystoreSQL

/// A table of a many-to-many: `Z_5TAGS` for the relationship `tags` of the entity 5, with a column of keys for each side.
///
/// A column is called by the entity whose keys it has and the relationship that leads there, such as `Z_7TAGS` and `Z_5NOTES`. The order of
/// the objects of a column is in another one, such as `Z_FOK_7TAGS`.
struct CoreDataJoin {
    /// A column of keys.
    struct Side {
        /// The number of the entity; nil for the column of a relationship that is its own inverse.
        let number: Int16?
        /// The relationship that leads there, in upper case; a number at its end may only make it distinct.
        let relationship: String
        let column: String
    }

    let table: String
    /// The number of the entity that the table is called by.
    let number: Int16
    /// The relationship that the table is called by.
    let relationship: String
    private let sides: [Side]
    private let columns: Set<String>

    /// Nil for a table of another kind.
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

    /// The number and the name of `Z_5TAGS`.
    private static func parts(_ text: String) -> (number: Int16, name: String)? {
        guard text.hasPrefix("Z_") else { return nil }
        let digits = text.dropFirst(2).prefix { $0.isASCII && $0.isNumber }
        let name = text.dropFirst(2 + digits.count)
        guard let number = Int16(digits), !name.isEmpty else { return nil }
        return (number, String(name))
    }

    /// The side whose column leads to the objects of the relationship that the table is called by, and the other one.
    var ends: (owner: Side, member: Side)? {
        let named = sides.indices.filter { sides[$0].relationship == relationship }
        // Where both are called so, the owner is the entity that the table is called by.
        let member = named.count == 2 ? sides.firstIndex { $0.number != number } : named.first
        return member.map { (sides[1 - $0], sides[$0]) }
    }

    /// The column with the order of the objects of a side; nil where there is none.
    func order(of side: Side) -> String? {
        let name = "Z_FOK_" + (side.column.hasPrefix("Z_") ? String(side.column.dropFirst(2)) : side.column)
        return columns.contains(name) ? name : nil
    }

    /// The statement that gives the pairs.
    ///
    /// - Parameter order: The column with the rank; nil for none.
    func select(owner: Side, member: Side, order: String?) -> String {
        let rank = order.map(CoreDataFile.rank) ?? "0"
        let a = "t.\(SQLText.quoted(owner.column))", b = "t.\(SQLText.quoted(member.column))"
        return
            "SELECT \(a) AS \"owner\", \(rank) AS \"rank\", \(b) AS \"member\" FROM main.\(SQLText.quoted(table)) AS t "
            + "WHERE \(a) IS NOT NULL AND \(b) IS NOT NULL"
    }
}
#endif

/// An index of a foreign table that is not unique.
package struct CatalogIndex: Sendable {
    /// The name.
    package let name: String
    /// The columns, most significant first; meaningless with an obstacle.
    package var columns: [String] = []
    /// The reason that a model cannot declare the index, as the end of a sentence; nil for an index over the values of columns.
    package var obstacle: String?

    /// Creates an index without columns.
    package init(_ name: String, obstacle: String? = nil) {
        self.name = name
        self.obstacle = obstacle
    }

    /// Returns the remark that the index of a table is left out, or nil if it is not.
    package func remark(_ table: String) -> CatalogRemark? {
        obstacle.map { "the index \(name) of \(table) is left out: it \($0)" }
    }
}

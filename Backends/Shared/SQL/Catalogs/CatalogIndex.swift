package import PolystoreStorage

/// An index of a foreign table that is not unique.
package struct CatalogIndex: Sendable {
    /// PostgreSQL's indexes have at most 32 columns, and the last one of ours is the key.
    private static let mostColumns = 31

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

    /// Returns the indexes of a table in an order that does not depend on their names, and with an obstacle where a model limits the columns
    /// or their values.
    ///
    /// - Parameters:
    ///   - columns: The columns of the table.
    ///   - holdsLong: Returns whether a column contains a value of more than the given number of bytes.
    package static func checked(
        _ indexes: [CatalogIndex], _ columns: [CatalogColumn], _ holdsLong: (CatalogColumn, Int) throws(StorageError) -> Bool
    ) throws(StorageError) -> [CatalogIndex] {
        var long: [String: Bool] = [:], result: [CatalogIndex] = []
        func order(_ index: CatalogIndex) -> (String, String) { (index.columns.joined(separator: "\0"), index.name) }
        for var index in indexes.sorted(by: { order($0) < order($1) }) {
            if index.obstacle == nil, index.columns.count > mostColumns { index.obstacle = "has more than \(mostColumns) columns" }
            for column in columns where index.obstacle == nil && index.columns.contains(column.name) && column.isOfBytes {
                let most = EntityDescription.maximumIndexedBytes
                if long[column.name] == nil { long[column.name] = try holdsLong(column, most) }
                if long[column.name] == true { index.obstacle = "contains values of more than \(most) bytes in \(column.name)" }
            }
            result.append(index)
        }
        return result
    }
}

extension CatalogColumn {
    /// Whether the values are texts or data.
    fileprivate var isOfBytes: Bool {
        switch type {
        case .string, .url, .data: true
        case .bool, .int16, .int32, .int64, .float, .double, .decimal, .date, .uuid: false
        }
    }
}

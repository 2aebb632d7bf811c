internal import PolystoreStorage

/// The rules of an engine for names.
package struct SQLNameRules: Sendable {
    /// The maximum length of a name in bytes.
    package var limit: Int
    /// Whether names that differ only in the case of ASCII letters are the same.
    package var foldsCase: Bool
    /// The names of the engine's own columns.
    package var reservedColumns: Set<String>
    /// The prefix that names of tables and indexes may not have, in lower case; nil for none.
    package var reservedPrefix: String?

    /// Creates rules.
    package init(limit: Int, foldsCase: Bool, reservedColumns: Set<String> = [], reservedPrefix: String? = nil) {
        self.limit = limit
        self.foldsCase = foldsCase
        self.reservedColumns = reservedColumns
        self.reservedPrefix = reservedPrefix
    }
}

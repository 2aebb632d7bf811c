internal import PolystoreStorage

/// The number of rows and the digest of a table, as the end of an archive contains them.
struct ArchiveTable {
    let name: String
    let rows: Int64
    let digest: String

    /// Reads the table of a JSON object. Returns nil if it has another form.
    init?(_ node: JSONNode) {
        typealias Name = ArchiveFormat.Name
        guard case .object(let members) = node.value, members.map(\.name) == [Name.table, Name.rows, Name.digest],
            let name = members[0].text, let rows = members[1].integer, let digest = members[2].text
        else { return nil }
        (self.name, self.rows, self.digest) = (name, rows, digest)
    }
}

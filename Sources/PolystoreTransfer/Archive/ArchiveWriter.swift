package import PolystoreStorage

/// Writes all contents of a store as an archive, from which `ArchiveReader` restores objects with their keys, versions, and relationships.
package struct ArchiveWriter {
    private let contents: Contents
    /// The session that reads the history; nil for an archive without it.
    private let history: ReadSession?

    /// Creates a writer for the given contents.
    ///
    /// - Parameter history: The session of the contents, if the archive is to contain its history.
    package init(_ contents: Contents, history: ReadSession? = nil) {
        self.contents = contents
        self.history = history
    }

    /// Passes the bytes of the archive to `output`, in parts of about a megabyte.
    ///
    /// - Returns: The digests of the tables.
    @discardableResult
    package func write(_ output: ([UInt8]) throws(StorageError) -> Void) throws(StorageError) -> [TransferItem] {
        let schema = contents.schema
        let lines = RowLines(schema)
        var blocks = ArchiveBlocks(), items: [TransferItem] = []
        let header = Self.header(schema, hasHistory: history != nil)
        try output(header)
        for root in schema.roots {
            let name = schema.entities[root].name
            let digest = try contents.rows(root) { batch throws(StorageError) in
                for index in 0..<batch.count {
                    try blocks.add(to: name, output) { bytes throws(StorageError) in try lines.append(batch.row(index), to: &bytes) }
                }
            }
            try blocks.flush(output)
            items.append(TransferItem(name: name, digest: digest))
        }
        for (link, description) in schema.links.enumerated() {
            let digest = try contents.links(link) { pairs throws(StorageError) in
                for pair in pairs {
                    try blocks.add(to: description.name, output) { bytes throws(StorageError) in
                        lines.append(pair, of: description, to: &bytes)
                    }
                }
            }
            try blocks.flush(output)
            items.append(TransferItem(name: description.name, digest: digest))
        }
        if let history { items.append(try write(history, &blocks, output)) }
        try output(Self.end(items, header))
        return items
    }

    /// Passes the blocks of the history to `output`.
    private func write(
        _ history: ReadSession, _ blocks: inout ArchiveBlocks, _ output: ([UInt8]) throws(StorageError) -> Void
    ) throws(StorageError) -> TransferItem {
        var digest = Digest()
        try Self.suggestingNoHistory { () throws(StorageError) in
            try PastTransactions(history).forEachPart { entries throws(StorageError) in
                var size = 0
                for entry in entries {
                    let archived = ArchiveEntry(entry)
                    size += archived.add(to: &digest)
                    try blocks.add(to: ArchiveFormat.historyTable, output) { bytes in archived.append(to: &bytes) }
                }
                return size
            }
        }
        try blocks.flush(output)
        return TransferItem(name: ArchiveFormat.historyTable, digest: digest)
    }

    /// Runs a closure that reads the history, and adds to the error of a damaged one how to go without.
    private static func suggestingNoHistory(_ body: () throws(StorageError) -> Void) throws(StorageError) {
        do throws(StorageError) { try body() } catch {
            if error.code != .corrupted { throw error }
            throw StorageError(
                .corrupted, "\(error.message); or leave out the history (--no-history)", details: error.details, cause: error.cause)
        }
    }

    private static func header(_ schema: Schema, hasHistory: Bool) -> [UInt8] {
        typealias Name = ArchiveFormat.Name
        let version = hasHistory ? ArchiveFormat.historyVersion : ArchiveFormat.plainVersion
        return Array(
            "{\"\(Name.archive)\":\"archive\",\"\(Name.format)\":\(version),\"\(Name.model)\":\(schema.json)}\n".utf8)
    }

    private static func end(_ items: [TransferItem], _ header: [UInt8]) -> [UInt8] {
        typealias Name = ArchiveFormat.Name
        let tables = items.map {
            "{\"\(Name.table)\":\(JSONWriter.quoted($0.name)),\"\(Name.rows)\":\($0.digest.count),\"\(Name.digest)\":\"\($0.digest)\"}"
        }
        let digest = header.dropLast().withUnsafeBytes { Digest(of: $0) }
        return Array("{\"\(Name.header)\":\"\(digest)\",\"\(Name.tables)\":[\(tables.joined(separator: ","))]}\n".utf8)
    }
}

internal import PolystoreStorage

/// Collects the lines of an archive into blocks.
struct ArchiveBlocks {
    private var number = 0
    private var table = ""
    private var lines = 0
    private var bytes: [UInt8] = []

    /// Adds a line, which `append` writes, to a table. Passes the block to `output` if it is complete.
    mutating func add(
        to table: String, _ output: ([UInt8]) throws(StorageError) -> Void, _ append: (inout [UInt8]) throws(StorageError) -> Void
    ) throws(StorageError) {
        self.table = table
        try append(&bytes)
        lines += 1
        if bytes.count >= ArchiveFormat.blockBytes { try flush(output) }
    }

    /// Passes the lines of an incomplete block to `output`, followed by the line that ends the block.
    mutating func flush(_ output: ([UInt8]) throws(StorageError) -> Void) throws(StorageError) {
        if lines == 0 { return }
        typealias Name = ArchiveFormat.Name
        number += 1
        let digest = bytes.withUnsafeBytes { Digest(of: $0) }
        bytes +=
            Array(
                ("{\"\(Name.block)\":\(number),\"\(Name.table)\":\(JSONWriter.quoted(table)),\"\(Name.lines)\":\(lines),"
                    + "\"\(Name.digest)\":\"\(digest)\"}\n").utf8)
        try output(bytes)
        bytes.removeAll(keepingCapacity: true)
        lines = 0
    }
}

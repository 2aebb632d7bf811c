package import PolystoreStorage

/// Reads an archive and restores its objects into a store, with their keys, versions, and relationships, and its history if it has one.
///
/// The memory that it needs is that of one block. The transactions of the history keep their order, times, authors and changes. Tokens of
/// the archived store are not tokens of the restored store, which refuses them as `tokenExpired`.
package struct ArchiveReader {
    /// The model of the archived store.
    package let schema: Schema
    /// Whether the archive contains the history of the store.
    package let hasHistory: Bool
    private let name: String
    private let header: Digest
    private var bytes: ByteReader
    private var blocks = 0

    /// Begins to read an archive.
    ///
    /// - Parameter name: The name of the archive in errors.
    /// - Throws: `invalidConfiguration` for a file that is no archive; `unsupported` for an archive of a later version of the form;
    ///   `corrupted`.
    package init(_ file: FileBlocks, name: String) throws(StorageError) {
        self.name = name.excerpt()
        bytes = try ByteReader(file, name)
        guard let line = try Self.line(&bytes), let members = Self.members(line), let first = members.first,
            first.name == ArchiveFormat.Name.archive, first.text == "archive", members.count == 3
        else {
            throw StorageError(
                .invalidConfiguration,
                "\(name.excerpt()) is not an archive; polystore dump writes archives, polystore load reads CSV and NDJSON")
        }
        header = line.withUnsafeBytes { Digest(of: $0) }
        let version = members[1].integer
        hasHistory = version == Int64(ArchiveFormat.historyVersion)
        guard hasHistory || version == Int64(ArchiveFormat.plainVersion) else {
            throw StorageError(
                .unsupported, "\(name.excerpt()) was written by a later version of Polystore, whose form of archives this one does not know"
            )
        }
        do throws(SchemaError) { schema = try Schema(json: JSONWriter.write(members[2].node.value)) } catch {
            throw StorageError(.corrupted, "\(name.excerpt()): the model of the archive is damaged: \(error)", cause: error)
        }
    }

    /// Restores all objects into an empty store in one transaction.
    ///
    /// - Parameters:
    ///   - includesHistory: Whether the history is restored, if the archive contains it and the store can keep it.
    ///   - progress: Called for each block with its table and the number of its restored rows.
    /// - Throws: `corrupted`, which names the block and its table, for a damaged or incomplete archive; `alreadyExists` if the store
    ///   contains objects, or transactions of its own while a history is restored; `schemaMismatch`. After an error nothing was written.
    package mutating func restore(
        into store: OpenStore, includesHistory: Bool = true, limit: WorkLimit? = nil,
        progress: (_ table: String, _ rows: Int) -> Void = { _, _ in }
    ) throws(StorageError) -> RestoredArchive {
        guard store.schema.hash == schema.hash else {
            throw StorageError(
                .schemaMismatch,
                "the store has another model than the archive: "
                    + (SchemaDifference.first(from: store.schema, to: schema)?.description ?? "the hashes differ"))
        }
        let writer = try store.beginWrite(WriteOptions(bulk: .whole, limit: limit))
        defer { writer.end() }
        try Peers(writer).checkIsAlone()
        try Contents(writer).checkIsEmpty()
        let isWanted = hasHistory && includesHistory, isRestored = isWanted && writer.restoresHistory
        if isRestored { try PastTransactions.checkAreMissing(in: writer, option: "restore without the history (--no-history)") }
        var restoration = ArchiveRestoration(writer, restoresHistory: isRestored)
        while true {
            try limit?.check()
            let block = try nextBlock()
            switch block {
            case .block(let table, let lines):
                do throws(ArchiveProblem) {
                    if hasHistory, table == ArchiveFormat.historyTable {
                        try restoration.addHistory(lines)
                    } else {
                        try restoration.add(lines, of: table)
                    }
                } catch { throw refusal(error, table) }
                progress(table, restoration.rows(of: table))
            case .end(let header, let tables):
                let items = restoration.items, history = restoration.history
                if header != self.header.description { throw damaged(0, "the model", "its digest does not fit its contents") }
                try check(tables, items + (hasHistory ? [TransferItem(name: ArchiveFormat.historyTable, digest: history)] : []))
                _ = try writer.commit(CommitRecord(author: "restore"))
                return RestoredArchive(
                    items: items, transactions: isRestored ? history.count : nil, leavesOutHistory: isWanted && !isRestored)
            }
        }
    }

    /// A part of an archive.
    private enum Part {
        case block(table: String, lines: [[JSONMember]])
        case end(header: String, [ArchiveTable])
    }

    /// Reads the next block and checks its digest before any of its lines is parsed.
    private mutating func nextBlock() throws(StorageError) -> Part {
        var text: [UInt8] = [], lines: [Range<Int>] = []
        while let line = try Self.line(&bytes) {
            if line.starts(with: Self.blockStart) || line.starts(with: Self.endStart) {
                guard let end = Self.members(line).flatMap(ArchiveLine.init) else { break }
                switch end {
                case .end(let header, let tables) where lines.isEmpty:
                    // A compressed archive is known to be whole only at the end of its file.
                    if try bytes.peek() != nil { throw damaged(blocks + 1, "the end", "something follows the end") }
                    return .end(header: header, tables)
                case .block(let number, let table, let count, let digest):
                    blocks += 1
                    guard number == blocks, count == lines.count, text.withUnsafeBytes({ Digest(of: $0) }).description == digest else {
                        throw damaged(blocks, table, "its digest does not fit its contents")
                    }
                    let parsed = lines.compactMap { Self.members(text[$0]) }
                    guard parsed.count == lines.count else { throw damaged(blocks, table, "one of its lines is no JSON object") }
                    return .block(table: table, lines: parsed)
                case .end, .row, .pair, .entry: break
                }
                break
            }
            // A block ends with the line that reaches its size, so an archive without their ends is not read into memory.
            if text.count >= 64 * ArchiveFormat.blockBytes { break }
            lines.append(text.count..<(text.count + line.count))
            text += line
            text.append(UInt8(ascii: "\n"))
        }
        let first = lines.last.flatMap { Self.members(text[$0]) }?.first
        let isHistory = first?.name == ArchiveFormat.Name.history
        let table = isHistory ? ArchiveFormat.historyTable : first?.text ?? "the end"
        throw damaged(blocks + 1, table, "it is incomplete")
    }

    private static let blockStart = Array("{\"\(ArchiveFormat.Name.block)\":".utf8)
    private static let endStart = Array("{\"\(ArchiveFormat.Name.header)\":".utf8)

    /// Returns the next line without its end, or nil at the end of the file.
    private static func line(_ bytes: inout ByteReader) throws(StorageError) -> [UInt8]? {
        guard try bytes.peek() != nil else { return nil }
        var line: [UInt8] = []
        try bytes.take(into: &line) { $0 == UInt8(ascii: "\n") }
        // A line without an end is incomplete.
        guard try bytes.peek() != nil else { return nil }
        bytes.skip()
        return line
    }

    private static func members(_ line: some Collection<UInt8>) -> [JSONMember]? {
        guard let text = Array(line).withUnsafeBytes(String.init(utf8:)), case .object(let members)? = try? JSONParser.parse(text).value
        else {
            return nil
        }
        return members
    }

    /// Checks that the restored tables are those of the archived store.
    private func check(_ tables: [ArchiveTable], _ items: [TransferItem]) throws(StorageError) {
        guard tables.map(\.name) == items.map(\.name) else { throw damaged(blocks + 1, "the end", "it names other tables than the model") }
        for (table, item) in zip(tables, items) where table.rows != item.digest.count || table.digest != item.digest.description {
            throw damaged(blocks + 1, table.name, "blocks are missing, or their digests do not fit those of the table")
        }
    }

    private func refusal(_ problem: ArchiveProblem, _ table: String) -> StorageError {
        switch problem {
        case .damaged(let sentence): damaged(blocks, table, sentence)
        case .storage(let error): error
        }
    }

    private func damaged(_ block: Int, _ table: String, _ sentence: String) -> StorageError {
        StorageError(
            .corrupted,
            "\(name) is damaged in block \(block) (\(table.excerpt())): \(sentence); nothing was restored, use another copy of it")
    }
}

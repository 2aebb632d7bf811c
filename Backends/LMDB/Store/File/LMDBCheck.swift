#if LMDB
internal import PolystoreFoundation
internal import PolystoreStorage

/// A check of all trees of a file's newest snapshot that does not map the file: a page beyond the end of a mapped file, or a reference to
/// such a page, would end the process.
///
/// The check covers the bounds of every page and node, that no page is used twice, the order of keys, and the number of entries of each
/// tree. The values of records have checksums of their own.
struct LMDBCheck {
    /// The extent of the check when a file is opened.
    enum Extent: String, Sendable {
        /// The complete file if it is small, was cut, or has no lock file because it comes from elsewhere; otherwise the two meta pages.
        case automatic = "auto"
        case full
    }

    static let damaged = StorageError(.corrupted, "the LMDB file is damaged or truncated; restore it from a backup")
    /// The maximum size in bytes of a file that is always checked completely.
    private static let small: UInt64 = 64 << 20
    /// The maximum number of times that the check is repeated because other processes commit.
    private static let attempts = 100

    private let file: LMDBFile
    private let meta: LMDBMeta
    private let size: UInt64
    /// The pages of the file that have been visited, one bit for each.
    private var met: [UInt64]
    /// The visited pages beyond the end of the file.
    private var metBehind: Set<UInt64> = []

    private init(_ file: LMDBFile, _ meta: LMDBMeta, _ size: UInt64) {
        self.file = file
        self.meta = meta
        self.size = size
        met = [UInt64](repeating: 0, count: Int(truncatingIfNeeded: size / meta.pageSize / 64 + 1))
    }

    /// Checks a file before it is opened.
    ///
    /// - Throws: `notADatabase` or `corrupted`.
    static func run(_ file: LMDBFile, _ extent: Extent) throws(StorageError) {
        let (newest, _) = try LMDBMeta.pair(file)
        if extent == .automatic, try !isSuspicious(file, newest) { return }
        // The process that opened the file first has checked it, and pages may be reused while they are read.
        let isShared = file.isOpenElsewhere()
        if extent == .automatic, isShared { return }
        var meta = newest
        for _ in 0..<Self.attempts {
            do throws(StorageError) {
                var check = LMDBCheck(file, meta, try file.size())
                try check.run()
                // The next check can then skip the pages.
                if !isShared { try file.extend(to: (meta.lastPage + 1) * meta.pageSize) }
                return
            } catch  where error.code == .corrupted {
                let now = try LMDBMeta.pair(file).newest
                // Another process has committed in the meantime.
                if now == meta { throw error }
                meta = now
            }
        }
        throw StorageError(.busy, "the LMDB file could not be checked, because other processes commit too often; try again")
    }

    /// Whether the file needs a complete check. Pages that were allocated and freed in one transaction are never written, so an intact file
    /// can be shorter than its page count suggests; only the complete check distinguishes the cases.
    private static func isSuspicious(_ file: LMDBFile, _ meta: LMDBMeta) throws(StorageError) -> Bool {
        let size = try file.size()
        return size <= small || size / meta.pageSize <= meta.lastPage || !FileManager.default.fileExists(atPath: file.location.lockPath)
    }

    private mutating func run() throws(StorageError) {
        try claim(0, 2)
        try walk(meta.names) { check, page, node throws(StorageError) in try check.follow(page, node) }
        try walk(meta.free, isNumeric: true) { check, page, node throws(StorageError) in try check.claimFree(page, node) }
    }

    /// Marks pages as used. Throws if a page is used twice or is not part of the snapshot.
    private mutating func claim(_ first: UInt64, _ count: UInt64) throws(StorageError) {
        let (end, isOver) = first.addingReportingOverflow(count)
        guard !isOver, count > 0, end <= meta.lastPage + 1 else { throw Self.damaged }
        for page in first..<end {
            let word = Int(page / 64), bit = UInt64(1) << (page % 64)
            if word >= met.count {
                guard metBehind.insert(page).inserted else { throw Self.damaged }
            } else {
                guard met[word] & bit == 0 else { throw Self.damaged }
                met[word] |= bit
            }
        }
    }

    /// Reads bytes of a page. Bytes beyond the end of the file do not exist.
    private func read(_ page: UInt64, _ count: Int) throws(StorageError) -> LMDBPage {
        var isThere = Result<Bool, StorageError>.success(false)
        let bytes = [UInt8](unsafeUninitializedCapacity: count) { buffer, initialized in
            buffer.initialize(repeating: 0)
            initialized = count
            do throws(StorageError) {
                isThere = .success(try file.read(UnsafeMutableRawBufferPointer(buffer), at: page * meta.pageSize))
            } catch { isThere = .failure(error) }
        }
        guard try isThere.get() else { throw Self.damaged }
        return LMDBPage(bytes: bytes)
    }

    private typealias Visit = (inout LMDBCheck, LMDBPage, LMDBPage.Node) throws(StorageError) -> Void

    private mutating func walk(_ tree: LMDBTree, isNumeric: Bool = false, _ visit: Visit) throws(StorageError) {
        guard tree.isPlausible else { throw Self.damaged }
        guard let root = tree.root else { return }
        var walk = Walk(depth: tree.depth, isNumeric: isNumeric)
        try self.walk(root, 1, nil, &walk, visit)
        guard walk.entries == tree.entries else { throw Self.damaged }
    }

    /// The traversal of one tree.
    private struct Walk {
        let depth: Int
        /// Whether keys are numbers (`MDB_INTEGERKEY`).
        let isNumeric: Bool
        /// The previous key of the tree.
        var last: ArraySlice<UInt8>?
        var entries: UInt64 = 0

        func isBefore(_ a: ArraySlice<UInt8>, _ b: ArraySlice<UInt8>) -> Bool {
            if isNumeric { return a.reversed().lexicographicallyPrecedes(b.reversed()) }
            return a.withUnsafeBytes { a in b.withUnsafeBytes { b in compareBytes(a, b) < 0 } }
        }
    }

    /// - Parameter low: The lower bound of the keys of the page.
    private mutating func walk(
        _ number: UInt64, _ level: Int, _ low: ArraySlice<UInt8>?, _ walk: inout Walk, _ visit: Visit
    ) throws(StorageError) {
        try claim(number, 1)
        let page = try read(number, Int(meta.pageSize)), kind: LMDBPage.Kind = level < walk.depth ? .branch : .leaf
        guard page.number == number, page.kind == kind, let count = page.count, count >= (kind == .branch ? 2 : 1) else {
            throw Self.damaged
        }
        for index in 0..<count {
            guard let node = page.node(index, kind) else { throw Self.damaged }
            if walk.isNumeric, node.key.count != 8, kind == .leaf || index > 0 { throw Self.damaged }
            if kind == .branch {
                // The first key of a branch page has no meaning: it represents the lowest possible key.
                let bound = index == 0 ? low : node.key
                if index > 0, let last = walk.last, !walk.isBefore(last, node.key) { throw Self.damaged }
                try self.walk(node.child, level + 1, bound, &walk, visit)
            } else {
                if let last = walk.last, !walk.isBefore(last, node.key) { throw Self.damaged }
                if index == 0, let low, walk.isBefore(node.key, low) { throw Self.damaged }
                walk.last = node.key
                walk.entries += 1
                if node.flags & LMDBPage.Node.isLarge != 0 { try claimLarge(page.long(node.value), node.size) }
                try visit(&self, page, node)
            }
        }
    }

    /// Claims the pages of a value in overflow pages: at least as many as its size requires. A value that became smaller in the transaction
    /// that wrote it keeps its pages (`mdb_cursor_put`).
    private mutating func claimLarge(_ first: UInt64, _ size: Int) throws(StorageError) {
        let least = (UInt64(size) + UInt64(LMDBPage.header) - 1) / meta.pageSize + 1, all = self.size / meta.pageSize
        guard first <= all, least <= all - first else { throw Self.damaged }
        let head = try read(first, LMDBPage.header)
        guard head.number == first, head.kind == .overflow, head.length >= least, head.length <= all - first else { throw Self.damaged }
        try claim(first, head.length)
    }

    /// Checks the tree of a named map. Maps of other programs, with keys of other kinds, are ignored.
    private mutating func follow(_ page: LMDBPage, _ node: LMDBPage.Node) throws(StorageError) {
        guard node.flags == LMDBPage.Node.isTree else {
            if node.flags & LMDBPage.Node.isTree != 0 { throw Self.damaged }
            return
        }
        guard node.size == LMDBTree.bytes else { throw Self.damaged }
        let tree = page.bytes.withUnsafeBytes { LMDBTree($0, at: node.value) }
        if tree.flags != 0 { return }
        try walk(tree) { _, _, node throws(StorageError) in
            // Records are neither trees nor duplicate lists.
            if node.flags & ~LMDBPage.Node.isLarge != 0 { throw Self.damaged }
        }
    }

    /// Claims the pages that a transaction has freed, stored as their number followed by the pages in descending order.
    private mutating func claimFree(_ page: LMDBPage, _ node: LMDBPage.Node) throws(StorageError) {
        var list = page, start = node.value
        if node.flags & LMDBPage.Node.isLarge != 0 {
            list = try read(page.long(node.value), LMDBPage.header + node.size)
            start = LMDBPage.header
        }
        guard node.flags & ~LMDBPage.Node.isLarge == 0, node.size >= 8, list.long(start) < UInt64(node.size / 8) else {
            throw Self.damaged
        }
        for index in 0..<Int(list.long(start)) { try claim(list.long(start + 8 * (index + 1)), 1) }
    }
}
#endif

/// A number of rows on their way between a store and the layers above, without an object or a box per value.
///
/// The filler calls `clear()`, then `appendRow` for each row and fills the cells that it returns *before* the next call. Bytes either
/// stay where the filler has them, valid until it is asked for more, or are copied in with `copy`. Readers see the rows until the
/// batch is filled again. A batch is confined to one thread at a time.
public final class RowBatch {
    @usableFromInline
    struct Header {
        @usableFromInline var key: Int64
        @usableFromInline var version: Int64
        @usableFromInline var entity: Int32
        @usableFromInline var firstCell: Int32
        @usableFromInline
        init(key: Int64, version: Int64, entity: Int32, firstCell: Int32) {
            self.key = key
            self.version = version
            self.entity = entity
            self.firstCell = firstCell
        }
    }

    @exclusivity(unchecked) @usableFromInline var headers: UnsafeMutablePointer<Header>
    @exclusivity(unchecked) @usableFromInline var headerCapacity: Int
    @exclusivity(unchecked) @usableFromInline var cells: UnsafeMutablePointer<Cell>
    @exclusivity(unchecked) @usableFromInline var cellCapacity: Int
    @exclusivity(unchecked) @usableFromInline var cellCount = 0
    @exclusivity(unchecked) @usableFromInline var arena: ByteArena

    /// The number of rows.
    @exclusivity(unchecked) public private(set) final var count = 0

    /// The number of rows that a filler should stop at; a filler that borrows its engine's memory may stop earlier.
    public let capacity: Int

    /// An empty batch for about `capacity` rows; it grows where it must.
    public init(capacity: Int = 256) {
        self.capacity = Swift.max(capacity, 1)
        headerCapacity = Swift.min(self.capacity, 1024)
        headers = .allocate(capacity: headerCapacity)
        cellCapacity = headerCapacity * 8
        cells = .allocate(capacity: cellCapacity)
        arena = ByteArena(expecting: headerCapacity * 64)
    }

    deinit {
        headers.deallocate()
        cells.deallocate()
    }

    /// Whether a filler should stop.
    public var isFull: Bool { count >= capacity }

    /// Bytes that `copy` has taken in since `clear()`.
    public var copiedBytes: Int { arena.used }

    /// Forgets all rows; memory is kept for the next filling.
    @inline(__always)
    public func clear() {
        count = 0
        cellCount = 0
        arena.reset()
    }

    /// Adds a row and returns its cells, which are not initialised: the caller sets every one of `slots` before the next call.
    public func appendRow(key: Int64, version: Int64, entity: EntityIndex, slots: Int) -> UnsafeMutablePointer<Cell> {
        if count == headerCapacity { growHeaders() }
        if cellCount + slots > cellCapacity { growCells(slots) }
        (headers + count).initialize(
            to: Header(
                key: key, version: version, entity: Int32(truncatingIfNeeded: entity), firstCell: Int32(truncatingIfNeeded: cellCount)))
        count &+= 1
        let first = cells + cellCount
        cellCount &+= slots
        return first
    }

    /// Takes back the row that was added last, as when a filter refuses it after decoding.
    public func removeLastRow() {
        guard count > 0 else { return }
        count -= 1
        cellCount = Int(headers[count].firstCell)
    }

    /// The row at a position.
    @inline(__always)
    public func row(_ index: Int) -> RowView {
        let header = headers[index]
        return RowView(
            key: header.key, version: header.version, entity: Int(header.entity), cells: UnsafePointer(cells + Int(header.firstCell)))
    }

    /// The cells of the row at a position, to be changed in place.
    public func mutableCells(_ index: Int) -> UnsafeMutablePointer<Cell> { cells + Int(headers[index].firstCell) }

    /// Whether a text or bytes of any row have more than so many bytes.
    package func hasCell(longerThan bytes: Int) -> Bool {
        // All are looked at, without a branch for each: a batch goes through the processor several cells at a time.
        let cells = cells, count = cellCount
        var longest: UInt32 = 0
        for index in 0..<count { longest = Swift.max(longest, cells[index].length) }
        return Int(longest) > bytes
    }

    /// The key of the row at a position.
    public func key(_ index: Int) -> Int64 { headers[index].key }

    /// Copies bytes into the batch; the result is valid until `clear()`.
    @inline(__always)
    public func copy(_ bytes: UnsafeRawBufferPointer) -> UnsafeRawPointer { arena.copy(bytes) }

    /// Copies the bytes of a cell into the batch; the result is valid until `clear()`.
    package func copy(_ cell: Cell) -> Cell { arena.copy(cell) }

    /// Room for `count` bytes that the caller fills; valid until `clear()`.
    public func allocate(_ count: Int) -> UnsafeMutableRawPointer { arena.allocate(count) }

    /// Copies a row of another batch with its bytes, so that it stays valid when that batch is filled again.
    public func append(copying row: borrowing RowView, slots: Int) {
        let target = appendRow(key: row.key, version: row.version, entity: row.entity, slots: slots)
        for slot in 0..<slots { target[slot] = arena.copy(row.cells[slot]) }
    }

    private func growHeaders() {
        let grown = UnsafeMutablePointer<Header>.allocate(capacity: headerCapacity * 2)
        grown.moveInitialize(from: headers, count: count)
        headers.deallocate()
        headers = grown
        headerCapacity *= 2
    }

    private func growCells(_ slots: Int) {
        let capacity = Swift.max(cellCapacity * 2, cellCount + slots)
        let grown = UnsafeMutablePointer<Cell>.allocate(capacity: capacity)
        grown.moveInitialize(from: cells, count: cellCount)
        cells.deallocate()
        cells = grown
        cellCapacity = capacity
    }
}

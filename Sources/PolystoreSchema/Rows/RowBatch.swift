/// Rows that are passed between a store and the layers above, without an object or a box for each value.
///
/// The code that fills a batch calls `clear()`, then `appendRow` for each row, and sets the returned cells *before* the next call. Bytes
/// either remain in the memory of the filling code, where they must be valid until it is asked for more rows, or are copied into the batch
/// with `copy`. Rows are readable until the batch is filled again. A batch is confined to one thread at a time.
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

    /// The number of rows at which the filling code should stop. Code that lends memory of its engine may stop earlier.
    public let capacity: Int

    /// Creates an empty batch for about `capacity` rows. It grows if necessary.
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

    /// Whether the filling code should stop.
    public var isFull: Bool { count >= capacity }

    /// The number of bytes that `copy` has copied into the batch since `clear()`.
    public var copiedBytes: Int { arena.used }

    /// Removes all rows. Memory is kept for reuse.
    @inline(__always)
    public func clear() {
        count = 0
        cellCount = 0
        arena.reset()
    }

    /// Appends a row and returns its cells, which are not initialised: the caller sets each of the `slots` cells before the next call.
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

    /// Removes the row that was appended last, for example if a filter rejects it after decoding.
    public func removeLastRow() {
        guard count > 0 else { return }
        count -= 1
        cellCount = Int(headers[count].firstCell)
    }

    /// Returns the row at a position.
    @inline(__always)
    public func row(_ index: Int) -> RowView {
        let header = headers[index]
        return RowView(
            key: header.key, version: header.version, entity: Int(header.entity), cells: UnsafePointer(cells + Int(header.firstCell)))
    }

    /// Returns the cells of the row at a position for modification in place.
    public func mutableCells(_ index: Int) -> UnsafeMutablePointer<Cell> { cells + Int(headers[index].firstCell) }

    /// Returns the number of cells of the row at a position.
    package func slotCount(_ index: Int) -> Int {
        (index + 1 < count ? Int(headers[index + 1].firstCell) : cellCount) - Int(headers[index].firstCell)
    }

    /// Returns whether the text or bytes of any cell have more than the given number of bytes.
    package func hasCell(longerThan bytes: Int) -> Bool {
        // All cells are examined without a branch for each, so that the processor handles several cells at a time.
        let cells = cells, count = cellCount
        var longest: UInt32 = 0
        for index in 0..<count { longest = Swift.max(longest, cells[index].length) }
        return Int(longest) > bytes
    }

    /// Returns the primary key of the row at a position.
    public func key(_ index: Int) -> Int64 { headers[index].key }

    /// Copies bytes into the batch. The result is valid until `clear()`.
    @inline(__always)
    public func copy(_ bytes: UnsafeRawBufferPointer) -> UnsafeRawPointer { arena.copy(bytes) }

    /// Copies the bytes of a cell into the batch. The result is valid until `clear()`.
    package func copy(_ cell: Cell) -> Cell { arena.copy(cell) }

    /// Allocates `count` bytes for the caller to fill. They are valid until `clear()`.
    public func allocate(_ count: Int) -> UnsafeMutableRawPointer { arena.allocate(count) }

    /// Appends a copy of a row of another batch with its bytes, so that it remains valid when that batch is filled again.
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

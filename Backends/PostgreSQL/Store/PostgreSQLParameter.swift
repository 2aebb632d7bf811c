#if PostgreSQL
internal import CLibPQ
internal import PolystoreFoundation
internal import PolystoreSQL
internal import PolystoreStorage

/// A parameter of a statement.
struct PostgreSQLParameter {
    /// The binary form; nil for NULL.
    let bytes: [UInt8]?

    private init(null: Void) { bytes = nil }

    init(_ binding: SQLBinding) {
        switch binding {
        case .value(.null, _): self.init(null: ())
        // A float is compared as the double that its values are widened to (see the dialect's placeholder).
        case .value(let value, let type): self.init(RowBatch(capacity: 1).oneCell(value), type == .float ? .double : type)
        case .list(let values, let type):
            let batch = RowBatch(capacity: 1)
            self.init(array: values.map(batch.cell(for:)), type)
        }
    }

    init(_ cell: Cell, _ type: ValueType) {
        if cell.isNull {
            bytes = nil
            return
        }
        let field = WireBuffer(capacity: 64)
        PostgreSQLCodec.appendField(cell, type, to: field)
        bytes = Array(field.bytes.dropFirst(4))
    }

    /// Creates a one-dimensional array.
    init(array: [Cell], _ type: ValueType) {
        let result = WireBuffer(capacity: 20 + 12 * array.count)
        result.append(Int32(array.isEmpty ? 0 : 1))
        result.append(Int32(array.contains(where: \.isNull) ? 1 : 0))
        result.append(PostgreSQLCodec.column(type).oid)
        if !array.isEmpty {
            result.append(Int32(array.count))
            result.append(Int32(1))
            for cell in array { PostgreSQLCodec.appendField(cell, type, to: result) }
        }
        bytes = Array(result.bytes)
    }

    init(_ value: Int64) { self.init(.int(value), .int64) }
    init(keys: [Int64]) { self.init(array: keys.map(Cell.int), .int64) }
}

extension RowBatch {
    fileprivate func oneCell(_ value: Value) -> (RowBatch, Cell) { (self, cell(for: value)) }
}

extension PostgreSQLParameter {
    /// Creates a parameter from a cell and the batch that owns its bytes.
    fileprivate init(_ kept: (RowBatch, Cell), _ type: ValueType) {
        self = withExtendedLifetime(kept.0) { PostgreSQLParameter(kept.1, type) }
    }
}
#endif

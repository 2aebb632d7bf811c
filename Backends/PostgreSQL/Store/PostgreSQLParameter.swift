#if PostgreSQL
internal import Foundation
internal import PolystoreSQL
internal import PolystoreStorage

/// One parameter of a statement.
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

    /// A one-dimensional array.
    init(array: [Cell], _ type: ValueType) {
        let result = WireBuffer(capacity: 20 + 12 * array.count)
        result.append(Int32(array.isEmpty ? 0 : 1))
        result.append(Int32(array.contains(where: \.isNull) ? 1 : 0))
        result.append(PostgreSQLCodec.oid(type))
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
    /// A cell with the batch that holds its bytes.
    fileprivate init(_ kept: (RowBatch, Cell), _ type: ValueType) {
        self = withExtendedLifetime(kept.0) { PostgreSQLParameter(kept.1, type) }
    }
}

extension PostgreSQLParameter {
    /// Hands parameters over in the form of libpq's functions: their number, values, lengths and formats.
    static func withArguments<R>(
        _ parameters: [PostgreSQLParameter],
        _ body: (Int32, [UnsafePointer<CChar>?], [Int32], [Int32]) -> R
    ) -> R {
        // One block holds all of them, so that one pointer has to stay valid; libpq wants an address for an empty value too.
        let block = WireBuffer(capacity: parameters.reduce(0) { $0 + ($1.bytes?.count ?? 0) + 1 })
        var offsets: [Int?] = []
        for parameter in parameters {
            offsets.append(parameter.bytes.map { _ in block.count })
            parameter.bytes?.withUnsafeBytes(block.append)
            block.append(UInt8(0))
        }
        let base = block.bytes.baseAddress
        let values = offsets.map { offset in offset.flatMap { position in base.map { ($0 + position).assumingMemoryBound(to: CChar.self) } }
        }
        return withExtendedLifetime(block) {
            body(
                Int32(parameters.count), values, parameters.map { Int32($0.bytes?.count ?? 0) },
                [Int32](repeating: 1, count: parameters.count))
        }
    }
}

/// A statement of a pipeline.
struct PostgreSQLStep {
    let sql: String
    let parameters: [PostgreSQLParameter]

    init(_ sql: String, _ parameters: [PostgreSQLParameter] = []) {
        self.sql = sql
        self.parameters = parameters
    }
}
#endif

internal import Foundation
internal import PolystoreStorage
internal import PolystoreTransfer

/// The printed answer of a request for objects or values.
struct RequestAnswer {
    private let reader: ReadSession
    private let format: AnswerFormat

    init(_ reader: ReadSession, _ format: AnswerFormat) {
        self.reader = reader
        self.format = format
    }

    /// Prints the values of a request.
    ///
    /// - Returns: The number of rows.
    @discardableResult
    func show(_ request: QueryRequest) throws -> Int {
        let rows = try reader.values(for: request.plan(in: reader.schema))
        var writer = AnswerWriter(format, request.outputs.map(\.alias))
        for row in rows { try writer.write(row) }
        try writer.finish()
        return rows.count
    }

    /// Prints the only value of a request, without its name.
    func showValue(_ request: QueryRequest) throws {
        let rows = try reader.values(for: request.plan(in: reader.schema))
        Console.print(JSONWriter.write(ValueText.json(rows.first?.first ?? .null)))
    }

    /// Prints objects: as lines of JSON, or as columns with the key, the entity if there are several, and every property of the entity and
    /// its sub-entities.
    ///
    /// - Parameter mostRows: The number of rows after which the answer is cut off.
    /// - Returns: The number of rows, and whether there are more.
    @discardableResult
    func show(_ request: ObjectRequest, mostRows: Int = .max) throws -> (count: Int, hasMore: Bool) {
        let plan = try request.plan(in: reader.schema)
        return try format == .ndjson ? showLines(plan, mostRows) : showObjects(plan, mostRows)
    }

    private func showLines(_ plan: FetchPlan, _ mostRows: Int) throws(StorageError) -> (count: Int, hasMore: Bool) {
        let cursor = try reader.cursor(for: plan), lines = RowLines(reader.schema), batch = RowBatch()
        var bytes: [UInt8] = [], count = 0
        while try cursor.next(into: batch) {
            for index in 0..<batch.count {
                if count == mostRows {
                    try Console.write(Data(bytes))
                    return (count, true)
                }
                try lines.append(batch.row(index), to: &bytes)
                count += 1
            }
            if bytes.count > 1 << 16 {
                try Console.write(Data(bytes))
                bytes.removeAll(keepingCapacity: true)
            }
        }
        try Console.write(Data(bytes))
        return (count, false)
    }

    private func showObjects(_ plan: FetchPlan, _ mostRows: Int) throws(StorageError) -> (count: Int, hasMore: Bool) {
        let columns = ObjectColumns(reader.schema, plan.entity), cursor = try reader.cursor(for: plan), batch = RowBatch()
        var writer = AnswerWriter(format, columns.names), count = 0
        while try cursor.next(into: batch) {
            for index in 0..<batch.count {
                if count == mostRows {
                    try writer.finish()
                    return (count, true)
                }
                try writer.write(batch.row(index), columns)
                count += 1
            }
        }
        try writer.finish()
        return (count, false)
    }
}

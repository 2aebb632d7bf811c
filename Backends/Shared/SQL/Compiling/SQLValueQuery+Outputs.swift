internal import PolystoreFoundation
package import PolystoreStorage

extension SQLValueQuery {
    /// Returns the row of the answer for a row of the result, or nil when a number must be computed from the rows.
    package func row(_ columns: [Value]) -> [Value]? {
        for index in guards where columns[index] != .int(0) { return nil }
        var row: [Value] = []
        for output in outputs {
            switch output {
            case .column(let index): row.append(columns[index])
            case .total(let index, let count, let type):
                guard let total = Self.total(columns[index], columns[count], type) else { return nil }
                row.append(total)
            case .mean(let index, let count, let type):
                guard let total = Self.total(columns[index], columns[count], type), let mean = Self.mean(total, columns[count]) else {
                    return nil
                }
                row.append(mean)
            case .middle(let low, let high):
                guard let middle = Accumulator.middle(columns[low], columns[high]) else { return nil }
                row.append(middle)
            }
        }
        return row
    }

    private static func total(_ total: Value, _ count: Value, _ type: ValueType) -> Value? {
        if count == .int(0) { return AggregateFunction.sum.ofNothing(type) }
        if case .double(let number) = total { return number.isFinite ? .double(number == 0 ? 0 : number) : nil }
        return [.int64, .decimal].contains(total.type) ? total : nil
    }

    private static func mean(_ total: Value, _ count: Value) -> Value? {
        guard case .int(let number) = count, number > 0 else { return .null }
        if case .int(let total) = total { return .double(Double(total) / Double(number)) }
        if case .double(let total) = total { return .double(total / Double(number)) }
        guard case .decimal(let total) = total else { return .null }
        return DecimalArithmetic.quotient(total, Decimal(number)).map(Value.decimal)
    }
}

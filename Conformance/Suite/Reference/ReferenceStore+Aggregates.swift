internal import Foundation
internal import PolystoreStorage

extension ReferenceStore {
    /// Returns the groups that `RandomRequests.groups` requests, or nil for a total beyond its range.
    func groups(_ request: QueryRequest) -> [[Value]]? {
        let all = fetch(ObjectRequest("Thing", where: request.fetch.predicate))
        var rows: [(keys: [Value], row: [Value])] = []
        var seen: [[Value]] = []
        for row in all {
            let keys = request.groupBy.map { operand($0, row) }
            if seen.contains(keys) { continue }
            seen.append(keys)
            let members = all.filter { other in request.groupBy.map { operand($0, other) } == keys }
            guard case .aggregate(let aggregate) = request.outputs[keys.count + 1].expression.node,
                case .path(let path)? = aggregate.argument?.node,
                let value = self.aggregate(aggregate.function, path, over: members)
            else { return nil }
            rows.append((keys, keys + [.int(Int64(members.count)), value]))
        }
        if case .compare(_, let comparison, let right)? = request.having?.node, case .value(let bound) = right.node {
            rows = rows.filter { holds($0.row[$0.keys.count], comparison, bound) }
        }
        rows.sort { a, b in
            if let key = request.fetch.order.first {
                let order = Self.order(a.row[a.keys.count], b.row[b.keys.count])
                if order != 0 { return key.ascending ? order < 0 : order > 0 }
            }
            for (x, y) in zip(a.keys, b.keys) where Self.order(x, y) != 0 { return Self.order(x, y) < 0 }
            return false
        }
        return rows.dropFirst(request.fetch.offset).prefix(request.fetch.limit ?? .max).map(\.row)
    }

    /// Returns an aggregate over the rows of a request, or nil for a total beyond its range.
    func aggregate(_ function: AggregateFunction, _ path: PropertyPath?, _ request: ObjectRequest) -> Value? {
        aggregate(function, path, over: fetch(request))
    }

    func aggregate(_ function: AggregateFunction, _ path: PropertyPath?, over rows: [Row]) -> Value? {
        guard let path else { return .int(Int64(rows.count)) }
        return aggregate(function, rows.map { value(path, $0) }, type(path, of: rows.first?.entity ?? "Thing"))
    }

    /// Returns an aggregate over values of a type, or nil for a total beyond its range.
    func aggregate(_ function: AggregateFunction, _ all: [Value], _ type: ValueType) -> Value? {
        let values = all.filter { $0 != .null }
        switch function {
        case .count: return .int(Int64(values.count))
        case .countDistinct: return .int(Int64(Set(values).count))
        case .minimum: return values.min { Self.order($0, $1) < 0 } ?? .null
        case .maximum: return values.max { Self.order($0, $1) < 0 } ?? .null
        case .sum: return sum(values, type)
        case .standardDeviation, .sampleStandardDeviation:
            return deviation(values.map(number), isSample: function == .sampleStandardDeviation)
        case .median:
            let sorted = values.sorted { Self.order($0, $1) < 0 }
            return sorted.isEmpty ? .null : average([sorted[(sorted.count - 1) / 2], sorted[sorted.count / 2]])
        case .average:
            guard !values.isEmpty else { return .null }
            return average(values)
        }
    }

    private func sum(_ values: [Value], _ type: ValueType) -> Value? {
        if type == .decimal { return total(values).map(Value.decimal) }
        if type == .double || type == .float { return .double(values.reduce(0) { $0 + double($1) }) }
        return Int64(exactly: values.reduce(Int128(0)) { $0 + Int128(int($1)) }).map(Value.int)
    }

    /// Returns the total of decimals, or nil if it has more than 38 digits. The total is unknown if Foundation loses digits on the way to it.
    private func total(_ values: [Value]) -> Decimal? {
        var total = Decimal(0)
        for value in values {
            var sum = Decimal(), a = total, b = decimal(value)
            if NSDecimalAdd(&sum, &a, &b, .plain) != .noError { _ = unknown() }
            total = sum
        }
        let digits = "\(total)".filter(\.isNumber).drop { $0 == "0" }
        return digits.count - digits.reversed().prefix { $0 == "0" }.count > 38 ? nil : total
    }

    private func number(_ value: Value) -> Double {
        switch value {
        case .int(let number): Double(number)
        case .double(let number): number
        case .decimal(let number): Double("\(number)") ?? 0
        case .null, .bool, .string, .date, .uuid, .data: 0
        }
    }

    /// Returns the deviation by its definition, in two passes. Values are relative to the first number, so that equal numbers have no
    /// deviation at all.
    private func deviation(_ all: [Double], isSample: Bool) -> Value {
        if all.count < (isSample ? 2 : 1) { return .null }
        let numbers = all.map { $0 - all[0] }
        let mean = numbers.reduce(0, +) / Double(numbers.count)
        let squares = numbers.map { ($0 - mean) * ($0 - mean) }.reduce(0, +)
        return .double((squares / Double(isSample ? numbers.count - 1 : numbers.count)).squareRoot())
    }

    private func average(_ values: [Value]) -> Value? {
        switch values[0] {
        case .decimal: total(values).map { .decimal(Self.rounded($0 / Decimal(values.count))) }
        case .double: .double(values.reduce(0) { $0 + double($1) } / Double(values.count))
        case .null, .bool, .int, .string, .date, .uuid, .data:
            .double(Double(values.reduce(Int128(0)) { $0 + Int128(int($1)) }) / Double(values.count))
        }
    }

    /// Returns a result of Foundation, which can have 39 digits, rounded to the 38 digits of an attribute.
    static func rounded(_ number: Decimal) -> Decimal {
        var number = number, result = number
        let excess = number.significand.description.count - 38
        if excess > 0 { NSDecimalRound(&result, &number, -(number.exponent + excess), .plain) }
        return result
    }

    private func int(_ value: Value) -> Int64 { if case .int(let number) = value { number } else { 0 } }
    private func double(_ value: Value) -> Double { if case .double(let number) = value { number } else { 0 } }
    private func decimal(_ value: Value) -> Decimal { if case .decimal(let number) = value { number } else { 0 } }
}

#if SQLite
internal import CSQLite
internal import PolystoreStorage

/// The functions and aggregates of the contract, computed by the same code as above a store.
///
/// `polystore_call` takes a function as a text of `FunctionCall`, and its arguments. For the aggregates there is one SQL function for each
/// type, because an aggregate over no rows has no arguments. Neither can be used in a schema: other programs do not have them.
extension SQLiteFunctions {
    /// A function that a statement keeps.
    private final class KeptCall {
        let call: FunctionCall
        init(_ call: FunctionCall) { self.call = call }
    }

    /// The state of an aggregate over the rows of a group.
    private final class Total {
        var accumulator: Accumulator
        init(_ accumulator: Accumulator) { self.accumulator = accumulator }
    }

    private static let aggregates: [AggregateFunction] = [.sum, .average, .standardDeviation, .sampleStandardDeviation, .median]
    private static let types: [ValueType] = [.int64, .double, .decimal]

    /// Returns the name of the SQL function of an aggregate over numbers of a type; nil for other aggregates.
    static func total(_ function: AggregateFunction, _ type: ValueType) -> String? {
        guard aggregates.contains(function), type.isNumeric else { return nil }
        return name(function, type.isInteger ? .int64 : (type == .decimal ? .decimal : .double))
    }

    private static func name(_ function: AggregateFunction, _ type: ValueType) -> String {
        "polystore_\(function.rawValue)_\(type.rawValue)"
    }

    static func registerCalls(_ handle: OpaquePointer) {
        // Not deterministic: the engine would compute a call without columns once for no rows, and fail.
        let flags = SQLITE_UTF8 | SQLITE_DIRECTONLY
        sqlite3_create_function_v2(handle, "polystore_call", -1, flags, nil, call, nil, nil, nil)
        for (row, function) in aggregates.enumerated() {
            for (column, type) in types.enumerated() {
                let number = UnsafeMutableRawPointer(bitPattern: row * types.count + column + 1)
                sqlite3_create_function_v2(handle, name(function, type), 1, flags, number, nil, add, end, nil)
            }
        }
    }

    private static let call: @convention(c) (OpaquePointer?, Int32, UnsafeMutablePointer<OpaquePointer?>?) -> Void = {
        context, count, values in
        guard let values, let call = keptCall(context, values[0])?.call, call.arguments.count == count - 1 else {
            return SQLiteResult.fail(context, .unknownCall)
        }
        if let whole = call.whole, let a = values[1], let b = values[2] {
            if sqlite3_value_type(a) == SQLITE_NULL || sqlite3_value_type(b) == SQLITE_NULL { return sqlite3_result_null(context) }
            do throws(QueryError) {
                return sqlite3_result_int64(context, try whole(sqlite3_value_int64(a), sqlite3_value_int64(b)))
            } catch { return SQLiteResult.fail(context, error) }
        }
        var arguments: [Value] = []
        arguments.reserveCapacity(call.arguments.count)
        for (index, type) in call.arguments.enumerated() {
            guard let value = values[index + 1], let argument = Value(SQLiteCells.cell(value, type.cellKind), as: type) else {
                return SQLiteResult.fail(context, .illFormed)
            }
            arguments.append(argument)
        }
        do throws(QueryError) { SQLiteResult.give(context, try call.value(arguments)) } catch { SQLiteResult.fail(context, error) }
    }

    /// Returns the function that the first argument of a call names. The statement keeps it.
    private static func keptCall(_ context: OpaquePointer?, _ text: OpaquePointer?) -> KeptCall? {
        if let kept = sqlite3_get_auxdata(context, 0) { return Unmanaged<KeptCall>.fromOpaque(kept).takeUnretainedValue() }
        guard let text = sqlite3_value_text(text), let call = FunctionCall(String(cString: text)) else { return nil }
        let kept = KeptCall(call)
        sqlite3_set_auxdata(context, 0, Unmanaged.passRetained(kept).toOpaque()) { kept in
            if let kept { Unmanaged<KeptCall>.fromOpaque(kept).release() }
        }
        return kept
    }

    /// The position of an aggregate among those of all functions and types.
    private static func position(_ context: OpaquePointer?) -> Int { Int(bitPattern: sqlite3_user_data(context)) - 1 }

    /// Returns an aggregate without values.
    private static func empty(_ context: OpaquePointer?) -> Accumulator {
        let position = position(context)
        return Accumulator(aggregates[position / types.count], type: types[position % types.count])
    }

    private static let add: @convention(c) (OpaquePointer?, Int32, UnsafeMutablePointer<OpaquePointer?>?) -> Void = { context, _, values in
        let size = Int32(MemoryLayout<UnsafeRawPointer?>.size)
        guard let value = values?[0], let memory = sqlite3_aggregate_context(context, size) else {
            return sqlite3_result_error_nomem(context)
        }
        let place = memory.assumingMemoryBound(to: UnsafeRawPointer?.self), total: Total
        // The memory is filled with zeros at the beginning of a group.
        if let known = place.pointee {
            total = Unmanaged<Total>.fromOpaque(known).takeUnretainedValue()
        } else {
            total = Total(empty(context))
            place.pointee = UnsafeRawPointer(Unmanaged.passRetained(total).toOpaque())
        }
        let kind = types[position(context) % types.count].cellKind
        do throws(QueryError) { try total.accumulator.add(SQLiteCells.cell(value, kind)) } catch { SQLiteResult.fail(context, error) }
    }

    /// Ends a group, also if the statement is abandoned.
    private static let end: @convention(c) (OpaquePointer?) -> Void = { context in
        var accumulator = empty(context)
        let place = sqlite3_aggregate_context(context, 0)?.assumingMemoryBound(to: UnsafeRawPointer?.self)
        if let known = place?.pointee { accumulator = Unmanaged<Total>.fromOpaque(known).takeRetainedValue().accumulator }
        do throws(QueryError) { SQLiteResult.give(context, try accumulator.result()) } catch { SQLiteResult.fail(context, error) }
    }
}

extension QueryError {
    fileprivate static var unknownCall: QueryError { QueryError("no function of this name and arguments is known") }
}
#endif

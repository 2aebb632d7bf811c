internal import CPolystore
internal import Foundation
internal import Polystore
internal import PolystoreCatalog
internal import PolystoreStorage

/// Creates a stack without stores from a model in JSON.
@c @implementation
public func polystore_stack_create(
    _ model: UnsafePointer<CChar>?, _ error: UnsafeMutablePointer<OpaquePointer?>?
) -> OpaquePointer? {
    reporting(error, nil) { HandleTable.insert(StackHandle(try stack(String(argument: model, "the model")))) }
}

/// Creates a stack without stores from a model file.
@c @implementation
public func polystore_stack_create_with_file(
    _ path: UnsafePointer<CChar>?, _ error: UnsafeMutablePointer<OpaquePointer?>?
) -> OpaquePointer? {
    reporting(error, nil) {
        let path = try String(argument: path, "the path of the model")
        let data: Data
        do throws(RegularFile.Problem) { data = try RegularFile.data(path, atMost: 16 << 20) } catch {
            throw StorageError(.notFound, "the model file \(path.excerpt(200)): \(error.sentence)")
        }
        return HandleTable.insert(StackHandle(try stack(String(decoding: data, as: UTF8.self))))
    }
}

private func stack(_ model: String) throws(StorageError) -> DataStack {
    let schema: Schema
    do throws(SchemaError) { schema = try Schema(json: model) } catch { throw StorageError(error) }
    return try DataStack(schema: schema)
}

/// Opens an existing store with its model.
@c @implementation
public func polystore_stack_open(_ url: UnsafePointer<CChar>?, _ error: UnsafeMutablePointer<OpaquePointer?>?) -> OpaquePointer? {
    reporting(error, nil) {
        HandleTable.insert(try StackHandle(opening: StoreCatalog.standard.url(for: String(argument: url, "the URL"))))
    }
}

/// Opens a store and adds it to a stack.
@c @implementation
public func polystore_stack_add_store(
    _ stack: OpaquePointer?, _ url: UnsafePointer<CChar>?, _ configuration: UnsafePointer<CChar>?,
    _ error: UnsafeMutablePointer<OpaquePointer?>?
) -> Int32 {
    reporting(error) {
        try StackHandle.using(stack) { handle in
            let url = try StoreCatalog.standard.url(for: String(argument: url, "the URL"))
            try handle.add(url, configuration == nil ? nil : String(argument: configuration, "the configuration"))
        }
    }
}

/// Removes all stores from a stack and closes them.
@c @implementation
public func polystore_stack_close(_ stack: OpaquePointer?, _ error: UnsafeMutablePointer<OpaquePointer?>?) -> Int32 {
    reporting(error) { try StackHandle.using(stack) { handle in try handle.close() } }
}

/// Returns the model of a stack in JSON.
@c @implementation
public func polystore_stack_model(
    _ stack: OpaquePointer?, _ error: UnsafeMutablePointer<OpaquePointer?>?
) -> UnsafeMutablePointer<CChar>? {
    reportingText(error) { try StackHandle.using(stack) { handle in handle.stack.schema.json } }
}

/// Returns the answer to a request, in the newest committed state.
@c @implementation
public func polystore_stack_query(
    _ stack: OpaquePointer?, _ request: UnsafePointer<CChar>?, _ error: UnsafeMutablePointer<OpaquePointer?>?
) -> UnsafeMutablePointer<CChar>? {
    reportingText(error) {
        try StackHandle.using(stack) { handle in
            let answer = RequestAnswer(
                schema: handle.stack.schema, rows: { query throws(StorageError) in try handle.stack.queryAttributes(query) },
                objects: { from throws(StorageError) in try handle.stack.fetchAll(from) })
            return try answer.json(String(argument: request, "the request"))
        }
    }
}

/// Adds a reference to a stack.
@c @implementation
public func polystore_stack_retain(_ stack: OpaquePointer?) -> OpaquePointer? { HandleTable.retain(stack, StackHandle.self) }

/// Releases a stack.
@c @implementation
public func polystore_stack_release(_ stack: OpaquePointer?) { HandleTable.release(stack, StackHandle.self) }

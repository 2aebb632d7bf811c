internal import CPolystore
internal import Polystore
internal import PolystoreStorage

/// Creates an object.
@c @implementation
public func polystore_transaction_create(
    _ transaction: OpaquePointer?, _ entity: UnsafePointer<CChar>?, _ values: UnsafePointer<CChar>?, _ key: UnsafeMutablePointer<Int64>?,
    _ error: UnsafeMutablePointer<OpaquePointer?>?
) -> Int32 {
    reporting(error) {
        let handle: TransactionHandle = try HandleTable.object(transaction)
        try handle.changing { transaction throws(StorageError) in
            let entity = try String(argument: entity, "the entity")
            let values = try ObjectValues(values.map { text throws(StorageError) in try String(argument: text, "the text of the values") })
            let objects = ObjectLookup(stack: handle.stack, transaction: transaction)
            let assignments = try values.assignments(objects.description(entity), objects)
            try transaction.assigning(assignments) { () throws(StorageError) in
                let object = try transaction.create(Into<DynamicObject>(entity: entity))
                try object.assign(assignments)
                key?.pointee = object._key
            }
        }
    }
}

/// Changes properties of an object.
@c @implementation
public func polystore_transaction_update(
    _ transaction: OpaquePointer?, _ entity: UnsafePointer<CChar>?, _ key: Int64, _ values: UnsafePointer<CChar>?,
    _ error: UnsafeMutablePointer<OpaquePointer?>?
) -> Int32 {
    reporting(error) {
        let handle: TransactionHandle = try HandleTable.object(transaction)
        try handle.changing { transaction throws(StorageError) in
            let entity = try String(argument: entity, "the entity")
            let values = try ObjectValues(String(argument: values, "the text of the values"))
            let objects = ObjectLookup(stack: handle.stack, transaction: transaction)
            let object = try objects.existing(entity, key)
            if let version = values.version { _ = try transaction.edit(object, expecting: version) }
            let assignments = try values.assignments(objects.schema[Int(object._entity)], objects)
            try transaction.assigning(assignments) { () throws(StorageError) in try object.assign(assignments) }
        }
    }
}

/// Deletes an object.
@c @implementation
public func polystore_transaction_delete(
    _ transaction: OpaquePointer?, _ entity: UnsafePointer<CChar>?, _ key: Int64, _ error: UnsafeMutablePointer<OpaquePointer?>?
) -> Int32 {
    reporting(error) {
        let handle: TransactionHandle = try HandleTable.object(transaction)
        try handle.changing { transaction throws(StorageError) in
            let objects = ObjectLookup(stack: handle.stack, transaction: transaction)
            if let object = try objects.find(String(argument: entity, "the entity"), key) { try transaction.delete(object) }
        }
    }
}

/// Returns the answer to a request, with the changes of the transaction.
@c @implementation
public func polystore_transaction_query(
    _ transaction: OpaquePointer?, _ request: UnsafePointer<CChar>?, _ error: UnsafeMutablePointer<OpaquePointer?>?
) -> UnsafeMutablePointer<CChar>? {
    reportingText(error) {
        let handle: TransactionHandle = try HandleTable.object(transaction)
        return try handle.using { access throws(StorageError) in
            let request = try String(argument: request, "the request")
            switch access {
            case .writing(let transaction): return try answer(transaction, handle.stack.schema).json(request)
            case .reading(let transaction): return try answer(transaction, handle.stack.schema).json(request)
            }
        }
    }
}

private func answer(_ source: some FetchSource & QuerySource, _ schema: Schema) -> RequestAnswer {
    RequestAnswer(
        schema: schema, rows: { query throws(StorageError) in try source.queryAttributes(query) },
        objects: { from throws(StorageError) in try source.fetchAll(from) })
}

/// Adds a reference to a transaction.
@c @implementation
public func polystore_transaction_retain(_ transaction: OpaquePointer?) -> OpaquePointer? {
    HandleTable.retain(transaction, TransactionHandle.self)
}

/// Releases a transaction.
@c @implementation
public func polystore_transaction_release(_ transaction: OpaquePointer?) { HandleTable.release(transaction, TransactionHandle.self) }

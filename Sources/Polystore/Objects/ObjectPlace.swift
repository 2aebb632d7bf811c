/// The place of a row in a context, from which its object is found or loaded again: for fields that outlive their object.
public struct ObjectPlace {
    let context: ObjectContext
    let store: Int32
    let entity: Int16
    let key: Int64

    /// The object; nil when the row is gone. A failure is remembered, as one of a getter is.
    public var object: ManagedObject? {
        context.attempt { () throws(StorageError) in try context.object(Int(entity), key, Int(store)) } ?? nil
    }
}

/// The location of a row in a context, from which its object is found or loaded again. For fields that outlive their object.
public struct ObjectPlace {
    let context: ObjectContext
    let store: Int32
    let entity: Int16
    let key: Int64

    /// The object; nil if the row was deleted. As in a getter, an error is recorded.
    public var object: ManagedObject? {
        context.attempt { () throws(StorageError) in try context.object(Int(entity), key, Int(store)) } ?? nil
    }
}

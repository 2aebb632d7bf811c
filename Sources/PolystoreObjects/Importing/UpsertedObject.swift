internal import PolystoreStorage

/// An object that an import updated or created.
public struct UpsertedObject<Object: ManagedObject> {
    /// The object.
    public let object: Object
    /// Whether the import created the object; otherwise it updated an existing one.
    public let isInserted: Bool
}

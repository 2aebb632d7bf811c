internal import Polystore

/// The names and prototypes of the classes of a schema that is being created.
struct SchemaTypes {
    private var known: [ObjectIdentifier: (name: String, prototype: CoreStoreObject)] = [:]

    mutating func add(_ declaration: any EntityDeclaration, _ prototype: CoreStoreObject) {
        known[ObjectIdentifier(declaration.type)] = (declaration.entityName, prototype)
    }

    func entity(of type: CoreStoreObject.Type, for path: String) throws(StorageError) -> (name: String, prototype: CoreStoreObject) {
        if let found = known[ObjectIdentifier(type)] { return found }
        throw StorageError(.invalidConfiguration, "\(path) refers to \(type), which is not an entity of this schema")
    }

    func parent(of prototype: CoreStoreObject) -> (name: String, prototype: CoreStoreObject)? {
        guard let type = Mirror(reflecting: prototype).superclassMirror?.subjectType as? CoreStoreObject.Type else { return nil }
        return known[ObjectIdentifier(type)]
    }
}

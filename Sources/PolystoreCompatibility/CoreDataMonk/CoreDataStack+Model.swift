public import Foundation
public import Polystore

extension CoreDataStack {
    /// Creates a stack without stores over an Xcode model.
    ///
    /// - Parameters:
    ///   - modelName: The name of the model, by default that of the program.
    ///   - bundle: The bundle with the model among its resources.
    ///   - rootContext: Whether contexts may merge automatically.
    ///   - models: The classes of the entities. Others use `DynamicObject`.
    /// - Throws: `notFound`, which names what was looked for and where; `invalidConfiguration` for an invalid model.
    public convenience init(
        modelName: String? = nil, bundle: Bundle = .main, rootContext: RootContextType = .shared, models: [ManagedObject.Type] = []
    ) throws(StorageError) {
        let versions = try XcodeDataModelSchema.from(modelName: modelName, bundle: bundle, models: models)
        self.init(try DataStack(schemaHistory: SchemaHistory(versions)), rootContext: rootContext)
    }
}

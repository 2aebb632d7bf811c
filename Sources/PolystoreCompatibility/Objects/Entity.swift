public import Polystore

/// An entity of a `CoreStoreSchema`: a class, its stored name, its indexes, and its unique constraints.
public struct Entity<Object: CoreStoreObject>: EntityDeclaration {
    /// The stored name.
    public let entityName: String
    /// Whether only subclasses can have objects.
    public let isAbstract: Bool
    private let indexes: [[PartialKeyPath<Object>]]
    private let moreIndexes: [Index]
    private let uniqueConstraints: [[PartialKeyPath<Object>]]

    /// Creates an entity.
    ///
    /// - Parameters:
    ///   - entityName: The stored name.
    ///   - isAbstract: Whether only subclasses can have objects.
    ///   - versionHashModifier: Has no effect: versions of a model differ by their names. Values whose meaning alone changes are converted by a
    ///     `MigrationStage` between two versions.
    ///   - indexes: Lists of fields, such as `[[\.$lastName, \.$firstName]]`.
    ///   - moreIndexes: Indexes over stored names, with a kind or a condition: `[Index(["age"], where: "isActive == true")]`.
    ///   - uniqueConstraints: Lists of fields for which no two objects may have the same values.
    public init(
        _ entityName: String, isAbstract: Bool = false, versionHashModifier: String? = nil, indexes: [[PartialKeyPath<Object>]] = [],
        moreIndexes: [Index] = [], uniqueConstraints: [[PartialKeyPath<Object>]] = []
    ) {
        self.entityName = entityName
        self.isAbstract = isAbstract
        self.indexes = indexes
        self.moreIndexes = moreIndexes
        self.uniqueConstraints = uniqueConstraints
    }

    /// Creates an entity of a class: `Entity(Person.self, "Person")`.
    public init(
        _ type: Object.Type, _ entityName: String, isAbstract: Bool = false, versionHashModifier: String? = nil,
        indexes: [[PartialKeyPath<Object>]] = [], uniqueConstraints: [[PartialKeyPath<Object>]] = []
    ) {
        self.init(entityName, isAbstract: isAbstract, indexes: indexes, uniqueConstraints: uniqueConstraints)
    }

    /// The class of the entity.
    public var type: CoreStoreObject.Type { Object.self }

    /// Adds indexes and constraints to a declaration.
    public func _complete(_ entity: inout Polystore.Entity, _ prototype: CoreStoreObject) throws(StorageError) {
        guard let prototype = prototype as? Object else { return }
        func names(_ paths: [PartialKeyPath<Object>]) throws(StorageError) -> [String] {
            var names: [String] = []
            for path in paths {
                guard let field = prototype[keyPath: path] as? FieldBase else {
                    throw StorageError(
                        .invalidConfiguration,
                        "an index or unique constraint of \(entityName) names a property that is not a field; write \\.$name")
                }
                names.append(field.keyPath)
            }
            return names
        }
        for index in indexes { entity.indexes.append(Index(try names(index))) }
        entity.indexes += moreIndexes
        for constraint in uniqueConstraints { entity.uniqueConstraints.append(UniqueConstraint(try names(constraint))) }
    }
}

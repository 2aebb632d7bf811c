internal import Polystore

/// The members that depend on the class of the receiver. Only subclasses of `CoreStoreObject` conform, so that other classes do not have
/// these names.
public protocol FieldDeclaring: CoreStoreObject {}

extension FieldDeclaring {
    /// The fields of values in the form of CoreStore 4: `let name = Value.Required<String>("name")`.
    public typealias Value = ValueContainer<Self>
    /// The fields of relationships in the form of CoreStore 4: `let master = Relationship.ToOne<Person>("master")`.
    public typealias Relationship = RelationshipContainer<Self>
    /// The fields of values of any type in the form of CoreStore 4.
    public typealias Transformable = TransformableContainer<Self>
    /// The fields in the form of CoreStore 7 and later: `@Field.Stored("name") var name: String = ""`.
    public typealias Field = FieldContainer<Self>
}

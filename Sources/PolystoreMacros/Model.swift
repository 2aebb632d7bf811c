#if Macros
@_exported public import Polystore

/// Declares a class as an entity. Each stored property becomes an attribute or a relationship.
/// ```swift
/// @Model class Person: ManagedObject {
///     var name: String = ""
///     @Attribute(.unique) var email: String?
///     @Relationship(inverse: \Dog.master, deleteRule: .cascade) var dogs: Set<Dog>
/// }
/// ```
/// - Parameters:
///   - entity: The stored name of the entity. The default is the name of the class.
///   - abstract: Whether only subclasses can have objects.
///   - indexes: Indexes over stored names that `.indexed` cannot express: with several properties, a kind, or a condition. They must be
///     literals, such as `[Index(["age"], where: "isActive == true")]`.
///   - unique: Unique constraints over several properties, which `.unique` cannot express: attributes and to-one relationships by their
///     stored names. They must be literals, such as `[["city", "street"]]`. Objects with a nil among the values are exempt.
///   - originalName: The stored name of the entity in the previous version of the model.
@attached(
    member,
    names: named(_Schema), named(_entityName), named(declaration), named(_slotNames), named(_initialSlots), named(init(_row:_:)),
    named(init(_new:_:_:)),
    named(_reload),
    named(_encode), named(_reference), named(_setReference), named(Snapshot))
@attached(memberAttribute)
public macro Model(
    entity: String? = nil, abstract: Bool = false, indexes: [Index] = [], unique: [[String]] = [], originalName: String? = nil
) = #externalMacro(module: "PolystoreMacrosPlugin", type: "ModelMacro")

/// Declares the options of an attribute that the declaration of the property cannot express.
///
/// - Parameters:
///   - options: `.unique`, `.indexed`, rules that are checked at commit, the evaluation of the initial value, and the treatment in the
///     history.
///   - key: The stored name. The default is the name of the property.
///   - originalName: The stored name in the previous version of the model.
@attached(peer)
public macro Attribute(_ options: AttributeOption..., key: String? = nil, originalName: String? = nil) =
    #externalMacro(module: "PolystoreMacrosPlugin", type: "MarkerMacro")

/// Declares the options of a relationship that the declaration of the property cannot express. The type of the property specifies the
/// number of destinations: `T?`, `Set<T>`, or `[T]`.
///
/// - Parameters:
///   - inverse: The inverse relationship of the destination. Only one of the two sides names it; the compiler calls two names a circular
///     reference.
///   - deleteRule: The effect on the destination when the owner is deleted.
///   - required: Whether a to-one relationship requires a destination.
///   - minCount: The minimum number of destinations of a to-many relationship, checked at commit.
///   - maxCount: The maximum number of destinations of a to-many relationship, checked at commit.
///   - key: The stored name. The default is the name of the property.
///   - originalName: The stored name in the previous version of the model.
@attached(peer)
public macro Relationship(
    inverse: AnyKeyPath? = nil, deleteRule: DeleteRule = .nullify, required: Bool = false, minCount: Int? = nil, maxCount: Int? = nil,
    key: String? = nil, originalName: String? = nil
) = #externalMacro(module: "PolystoreMacrosPlugin", type: "MarkerMacro")

/// Excludes a stored property from the entity.
@attached(peer)
public macro Transient() = #externalMacro(module: "PolystoreMacrosPlugin", type: "MarkerMacro")

/// Adds the accessors and the storage of one property. Part of the expansion of `@Model`.
@attached(accessor, names: named(get), named(set))
@attached(peer, names: prefixed(__))
public macro _Stored(slot: Int, key: String, kind: String, type: String, indexed: Bool, inlined: String) =
    #externalMacro(module: "PolystoreMacrosPlugin", type: "StoredMacro")
#endif

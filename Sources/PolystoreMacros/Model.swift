#if Macros
@_exported public import Polystore

/// Makes a class an entity: each stored property becomes an attribute or a relationship.
/// ```swift
/// @Model class Person: ManagedObject {
///     var name: String = ""
///     @Attribute(.unique) var email: String?
///     @Relationship(inverse: \Dog.master, deleteRule: .cascade) var dogs: Set<Dog>
/// }
/// ```
/// - Parameters:
///   - entity: The stored name of the entity; the name of the class unless said otherwise.
///   - abstract: Whether only subclasses have objects.
///   - indexes: Indexes of stored names that say more than `.indexed` does: several properties, a kind, a condition. They are literals, such
///     as `[Index(["age"], where: "isActive == true")]`.
@attached(
    member,
    names: named(_Schema), named(_entityName), named(declaration), named(_slotNames), named(_initialSlots), named(init(_row:_:)),
    named(init(_new:_:_:)),
    named(_reload),
    named(_encode), named(_reference), named(_setReference), named(Snapshot))
@attached(memberAttribute)
public macro Model(entity: String? = nil, abstract: Bool = false, indexes: [Index] = []) =
    #externalMacro(module: "PolystoreMacrosPlugin", type: "ModelMacro")

/// What the declaration of an attribute cannot say.
public enum AttributeOption {
    /// No two objects have the same value.
    case unique
    /// An index is kept.
    case indexed
    /// The least value, checked at commit.
    case minimum(any AttributeValue)
    /// The greatest value, checked at commit.
    case maximum(any AttributeValue)
    /// The least number of Unicode scalars of a text or bytes of data, checked at commit.
    case minLength(Int)
    /// The greatest number of Unicode scalars of a text or bytes of data, checked at commit.
    case maxLength(Int)
    /// The regular expression that describes the whole text, checked at commit.
    case pattern(String)
    /// The initial value is computed for each new object. What calls a function is anyway, such as `UUID()`, and so is `.now`; this says it of
    /// other expressions, such as a property that is not constant.
    case dynamicInitialValue
    /// The history keeps the last value when the object is deleted.
    case preservedInHistory
    /// The history never names the attribute, and never has a value of it.
    case excludedFromHistory
    /// What happens to the destination of a reference into another store when the object is deleted.
    case deleteRule(DeleteRule)
    /// What happens to the object when the destination of its reference into another store is deleted.
    case inverseDeleteRule(DeleteRule)
}

/// Says of an attribute what its declaration cannot.
///
/// - Parameters:
///   - options: `.unique`, `.indexed`, rules that are checked at commit, how the initial value comes about, what the history says.
///   - key: The stored name; the name of the property unless said otherwise.
///   - originalName: The stored name in the previous version of the model.
@attached(peer)
public macro Attribute(_ options: AttributeOption..., key: String? = nil, originalName: String? = nil) =
    #externalMacro(module: "PolystoreMacrosPlugin", type: "MarkerMacro")

/// Says of a relationship what its declaration cannot; how many objects it leads to is in its type: `T?`, `Set<T>` or `[T]`.
///
/// - Parameters:
///   - inverse: The relationship of the destination that is the other side; one of the two sides names it, not both.
///   - deleteRule: What happens to the destination when the owner is deleted.
///   - required: Whether a to-one must lead somewhere.
///   - minCount: The least number of objects that a to-many leads to, checked at commit.
///   - maxCount: The greatest number of objects that a to-many leads to, checked at commit.
///   - key: The stored name; the name of the property unless said otherwise.
///   - originalName: The stored name in the previous version of the model.
@attached(peer)
public macro Relationship(
    inverse: AnyKeyPath? = nil, deleteRule: DeleteRule = .nullify, required: Bool = false, minCount: Int? = nil, maxCount: Int? = nil,
    key: String? = nil, originalName: String? = nil
) = #externalMacro(module: "PolystoreMacrosPlugin", type: "MarkerMacro")

/// Leaves a stored property out of the entity.
@attached(peer)
public macro Transient() = #externalMacro(module: "PolystoreMacrosPlugin", type: "MarkerMacro")

/// Part of `@Model`: the accessors and the storage of one property.
@attached(accessor, names: named(get), named(set))
@attached(peer, names: prefixed(__))
public macro _Stored(slot: Int, key: String, kind: String, type: String, indexed: Bool, inlined: String) =
    #externalMacro(module: "PolystoreMacrosPlugin", type: "StoredMacro")
#endif

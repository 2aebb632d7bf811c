#if Macros
@_exported public import Polystore

/// An option of an attribute that the declaration of the property cannot express.
public enum AttributeOption {
    /// No two objects may have the same value.
    case unique
    /// The attribute has an index.
    case indexed
    /// The minimum value, checked at commit.
    case minimum(any AttributeValue)
    /// The maximum value, checked at commit.
    case maximum(any AttributeValue)
    /// The minimum number of Unicode scalars of a string or bytes of data, checked at commit.
    case minLength(Int)
    /// The maximum number of Unicode scalars of a string or bytes of data, checked at commit.
    case maxLength(Int)
    /// The regular expression that the whole string must match, checked at commit.
    case pattern(String)
    /// The initial value is computed for each new object. This is the default for expressions that call a function, such as `UUID()`, and
    /// for `.now`; the option is required for other expressions, such as a property that is not constant.
    case dynamicInitialValue
    /// The history keeps the last value when the object is deleted.
    case preservedInHistory
    /// The history never mentions the attribute and never contains its values.
    case excludedFromHistory
    /// The effect on the destination of a reference into another store when the object is deleted.
    case deleteRule(DeleteRule)
    /// The effect on the object when the destination of its reference into another store is deleted.
    case inverseDeleteRule(DeleteRule)
}
#endif

/// The treatment of an attribute in the history of a store. It does not affect the stored form of objects and is therefore not part of a
/// model's hash.
public enum AttributeHistory: String, Sendable, Hashable, CaseIterable {
    /// An update of the attribute is recorded, without its values.
    case recorded
    /// In addition, a deletion keeps the last value, so that readers of the history can identify the deleted object (Core Data's "preserve
    /// after deletion").
    case preserved
    /// The history never mentions the attribute and never contains its values.
    case excluded
}

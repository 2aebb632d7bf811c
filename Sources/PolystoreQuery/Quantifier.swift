internal import PolystoreSchema

/// The number of related objects that must satisfy a condition.
public enum Quantifier: String, Sendable, Hashable, CaseIterable {
    /// At least one.
    case any = "ANY"
    /// Every one; true if there is none.
    case all = "ALL"
    /// None.
    case none = "NONE"
}

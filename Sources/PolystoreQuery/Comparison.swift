internal import PolystoreSchema

/// A comparison of two values.
public enum Comparison: String, Sendable, Hashable, CaseIterable {
    /// Equal, including two nils.
    case equal = "=="
    /// Not equal; true if exactly one side is nil.
    case notEqual = "!="
    /// Less; false if a side is nil.
    case less = "<"
    /// Less or equal; false if a side is nil.
    case lessOrEqual = "<="
    /// Greater; false if a side is nil.
    case greater = ">"
    /// Greater or equal; false if a side is nil.
    case greaterOrEqual = ">="
}

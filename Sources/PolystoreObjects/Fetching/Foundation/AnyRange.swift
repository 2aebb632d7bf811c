internal import PolystoreStorage

/// A range of any type.
protocol AnyRange {
    /// The bounds.
    var bounds: (lower: Any?, upper: Any?, includesUpper: Bool) { get }
}

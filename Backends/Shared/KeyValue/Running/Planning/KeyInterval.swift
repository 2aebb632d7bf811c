internal import PolystoreStorage

/// A half-open interval of byte strings, from `low` up to but not including `high`.
struct KeyInterval {
    var low: [UInt8]
    var high: [UInt8]
    /// Whether the interval contains exactly the keys that begin with one value, so that a condition on the next slot can narrow it.
    var isValue = false
}

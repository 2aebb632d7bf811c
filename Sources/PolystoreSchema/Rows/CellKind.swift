/// The representation of a value in a `Cell`.
public enum CellKind: UInt8, Sendable, Hashable {
    /// No value.
    case null
    /// An integer, a Boolean (0 or 1), a date (microseconds since 1970), or the primary key of an object.
    case int
    /// A double-precision number. A `Float` is widened.
    case real
    /// UTF-8 bytes of a string or a URL.
    case text
    /// Bytes: data, the sixteen bytes of a UUID, or the order-preserving form of a decimal (`DecimalKey`).
    case blob
}

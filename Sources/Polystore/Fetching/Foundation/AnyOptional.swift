internal import PolystoreStorage

/// An optional of any type.
protocol AnyOptional {
    /// The wrapped type.
    static var wrappedType: Any.Type { get }
    /// The wrapped value.
    var unwrapped: Any? { get }
}

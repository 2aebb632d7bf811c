internal import PolystoreStorage

/// An optional of any type.
protocol AnyOptional {
    /// The wrapped type.
    static var wrappedType: Any.Type { get }
    /// The wrapped value.
    var unwrapped: Any? { get }
}

extension Optional: AnyOptional {
    static var wrappedType: Any.Type { Wrapped.self }
    var unwrapped: Any? { map { $0 } }
}

/// Returns a value without its optional.
func unwrapping<T>(_ value: T) -> Any? {
    guard T.self is any AnyOptional.Type, let optional = value as? any AnyOptional else { return value }
    return optional.unwrapped
}

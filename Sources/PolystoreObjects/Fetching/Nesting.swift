internal import PolystoreStorage

/// The nesting depth of computed properties whose expressions are being created.
enum Nesting {
    /// A greater depth is regarded as a property that is defined by itself.
    private static let deepest = 20

    @TaskLocal private static var depth = 0

    static func deeper<Object: ManagedObject, V>(_ expression: () -> ValueExpression<Object, V>) -> ValueExpression<Object, V> {
        if depth < deepest { return $depth.withValue(depth + 1, operation: expression) }
        return ValueExpression(
            .value(.null),
            problem: StorageError(
                .invalidPredicate,
                "a computed property of \(Object.self) refers to itself, or to a chain of more than \(deepest) other computed properties"))
    }
}

internal import PolystoreStorage

/// A part of a Foundation predicate that can be translated.
protocol LowerableExpression {
    /// Returns the translation of the part.
    func lowered(_ lowering: Lowering) throws(StorageError) -> LoweredPart
}

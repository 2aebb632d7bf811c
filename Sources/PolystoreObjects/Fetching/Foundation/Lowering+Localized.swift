public import PolystoreFoundation
internal import PolystoreStorage

#if !canImport(Darwin)
extension PredicateExpressions {
    /// The call of `localizedStandardContains` in a predicate, which Foundation has only on Apple's platforms.
    public struct StringLocalizedStandardContains<Root: PredicateExpression, Other: PredicateExpression>: PredicateExpression
    where Root.Output: StringProtocol, Other.Output: StringProtocol {
        /// The result, which is a condition.
        public typealias Output = Bool

        /// The text that is searched.
        public let root: Root
        /// The text that is searched for.
        public let other: Other

        /// Creates the call for two texts.
        public init(root: Root, other: Other) {
            self.root = root
            self.other = other
        }

        /// Returns whether the text contains the other one, without regard to case and diacritics.
        ///
        /// - Throws: The error of an operand.
        public func evaluate(_ bindings: PredicateBindings) throws -> Bool {
            func folded(_ text: some StringProtocol) -> String { TextFolding.fold(String(text), .caseAndDiacriticInsensitive) }
            return try folded(root.evaluate(bindings)).contains(folded(other.evaluate(bindings)))
        }
    }

    /// Creates the call of `localizedStandardContains`. Part of the expansion of `#Predicate`.
    public static func build_localizedStandardContains<Root, Other>(
        _ root: Root, _ other: Other
    ) -> StringLocalizedStandardContains<Root, Other> { StringLocalizedStandardContains(root: root, other: other) }
}

extension PredicateExpressions.StringLocalizedStandardContains: Sendable where Root: Sendable, Other: Sendable {}
extension PredicateExpressions.StringLocalizedStandardContains: Codable where Root: Codable, Other: Codable {}
extension PredicateExpressions.StringLocalizedStandardContains: StandardPredicateExpression
where Root: StandardPredicateExpression, Other: StandardPredicateExpression {}
#endif

extension PredicateExpressions.StringLocalizedStandardContains: LowerableExpression {
    /// Returns a search without case and diacritics, which is what the localized one ignores in most languages.
    func lowered(_ lowering: Lowering) throws(StorageError) -> LoweredPart {
        .condition(try lowering.match(lowering.lower(root), .contains, lowering.lower(other), [.caseInsensitive, .diacriticInsensitive]))
    }
}

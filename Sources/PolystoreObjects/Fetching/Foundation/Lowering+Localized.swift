public import PolystoreFoundation
internal import PolystoreStorage

#if canImport(Darwin)
extension PredicateExpressions.StringLocalizedStandardContains: LowerableExpression {
    func lowered(_ lowering: Lowering) throws(StorageError) -> LoweredPart {
        .condition(try lowering.match(lowering.lower(root).standardFolded, .contains, lowering.lower(other)))
    }
}
#else
extension String {
    /// The text in the form in which `localizedStandardContains` compares it in predicates, without case and diacritics.
    public var _standardFolded: String { TextFolding.fold(self, .caseAndDiacriticInsensitive) }
}

extension PredicateExpressions {
    /// Creates the call of `localizedStandardContains`, which Foundation has only on Apple's platforms. Part of the expansion of `#Predicate`.
    ///
    /// It consists of Foundation's own expressions, because Foundation cannot print a predicate that contains others.
    public static func build_localizedStandardContains<Root, Other>(
        _ root: Root, _ other: Other
    ) -> CollectionContainsCollection<KeyPath<Root, String>, KeyPath<Other, String>> where Root.Output == String, Other.Output == String {
        build_contains(
            build_KeyPath(root: root, keyPath: \String._standardFolded), build_KeyPath(root: other, keyPath: \String._standardFolded))
    }
}
#endif

extension PredicateExpressions.KeyPath {
    /// Whether the key path is that of a text for `localizedStandardContains`.
    var isStandardFolded: Bool {
        #if canImport(Darwin)
        false
        #else
        keyPath == \String._standardFolded
        #endif
    }
}

extension LoweredPart {
    /// The text without case and diacritics. A search folds a captured text itself.
    var standardFolded: LoweredPart {
        guard case .value(let value) = self else { return self }
        return .value(LoweredValue(.folded([.caseInsensitive, .diacriticInsensitive]), [value]))
    }
}

/// The patterns that follow, for a text, from a condition on the folded text. An engine that folds only ASCII evaluates them.
package enum FoldedNeedle {
    /// Returns a pattern that every text matches whose folded form satisfies a condition, after its ASCII letters are folded by the same
    /// options; nil if there is none but the one that all texts match.
    ///
    /// ASCII scalars are folded one by one. An ASCII scalar of the needle that no other scalar contributes therefore stands in the text
    /// itself, in the same order; everything else can have any length there.
    ///
    /// - Parameters:
    ///   - match: The condition; nil for equality.
    ///   - needle: The folded needle.
    package static func pattern(_ match: TextMatch?, _ needle: String, _ options: TextOptions) -> [LikePattern.Part]? {
        let contributed = contributed[options.rawValue & TextOptions.caseAndDiacriticInsensitive.rawValue]
        // A mark, which folding removes, can stand anywhere.
        let isRemoving = options.contains(.diacriticInsensitive)
        var parts: [LikePattern.Part] = isRemoving ? [.anyRun] : [], literal = String.UnicodeScalarView()
        func flush() {
            if !literal.isEmpty { parts.append(.literal(String(literal))) }
            literal = String.UnicodeScalarView()
        }
        func addRun() {
            flush()
            if parts.last != .anyRun { parts.append(.anyRun) }
        }
        for part in needleParts(match, needle) {
            guard case .literal(let text) = part else {
                addRun()
                continue
            }
            for scalar in text.unicodeScalars {
                if scalar.isASCII, !contributed.contains(scalar) { literal.append(scalar) } else { addRun() }
                if isRemoving { addRun() }
            }
        }
        flush()
        return parts.contains { if case .literal = $0 { true } else { false } } ? parts : nil
    }

    private static func needleParts(_ match: TextMatch?, _ needle: String) -> [LikePattern.Part] {
        switch match {
        case nil: [.literal(needle)]
        case .beginsWith: [.literal(needle), .anyRun]
        case .endsWith: [.anyRun, .literal(needle)]
        case .contains: [.anyRun, .literal(needle), .anyRun]
        case .like: LikePattern(needle).parts
        case .matches, .search: [.anyRun]
        }
    }

    /// The ASCII scalars that occur in the folded forms of other scalars, by the options.
    private static let contributed: [Set<Unicode.Scalar>] = (0...TextOptions.caseAndDiacriticInsensitive.rawValue).map { options in
        var found: Set<Unicode.Scalar> = []
        for scalar in TextFolding.folded.compactMap(Unicode.Scalar.init) where !scalar.isASCII {
            found.formUnion(TextFolding.fold(String(scalar), TextOptions(rawValue: options)).unicodeScalars.filter(\.isASCII))
        }
        return found
    }
}

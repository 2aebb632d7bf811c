import Testing

@testable import PolystoreQuery

/// What a text before folding has to match. A pattern that excludes a text whose folded form satisfies the condition loses objects.
@Suite struct FoldedNeedleTests {
    private static let options: [TextOptions] = [.caseInsensitive, .diacriticInsensitive, .caseAndDiacriticInsensitive]

    /// Returns whether scalars match a pattern of literals and runs.
    private func matches(_ text: [Unicode.Scalar], _ parts: [LikePattern.Part]) -> Bool {
        var position = 0, isFloating = false
        for (index, part) in parts.enumerated() {
            switch part {
            case .anyRun: isFloating = true
            case .anyScalar: return false
            case .literal(let literal):
                let wanted = Array(literal.unicodeScalars)
                func fits(_ start: Int) -> Bool { start >= position && text.dropFirst(start).starts(with: wanted) }
                var starts = [position]
                if isFloating { starts = index == parts.count - 1 ? [text.count - wanted.count] : Array(position...text.count) }
                guard let found = starts.first(where: fits) else { return false }
                position = found + wanted.count
                isFloating = false
            }
        }
        return isFloating || position == text.count
    }

    /// Returns a text as an engine folds its ASCII letters.
    private func folded(_ text: String, _ options: TextOptions) -> [Unicode.Scalar] {
        text.unicodeScalars.map { scalar in
            options.contains(.caseInsensitive) && ("A"..."Z").contains(scalar) ? Unicode.Scalar(UInt8(scalar.value) | 0x20) : scalar
        }
    }

    private func isFound(_ text: String, _ match: TextMatch?, _ needle: String, _ options: TextOptions) -> Bool {
        FoldedNeedle.pattern(match, needle, options).map { matches(folded(text, options), $0) } ?? true
    }

    @Test func noTextIsExcludedThatSatisfiesTheCondition() {
        var failures: [String] = []
        let changed = Set(TextFolding.folded)
        for value in 0x80...0x10ffff as ClosedRange<UInt32> {
            guard let scalar = Unicode.Scalar(value) else { continue }
            // The 11,172 syllables of Hangul are folded alike, and elsewhere nothing is folded.
            let isSyllable = (0xac00...0xd7a3).contains(value), isFolded = changed.contains(value)
            if isSyllable ? value % 97 != 0 : !isFolded && value % 4096 != 0 { continue }
            for options in Self.options {
                for text in ["Ob\(scalar)7z", "\(scalar)", "b\(scalar)\(scalar)-\u{301}x"] {
                    let whole = TextFolding.fold(text, options), scalars = whole.unicodeScalars
                    func check(_ match: TextMatch?, _ needle: String) {
                        if !needle.isEmpty, !isFound(text, match, needle, options) { failures.append("\(value) \(needle)") }
                    }
                    check(nil, whole)
                    for count in 1..<max(scalars.count, 2) {
                        let middle = String(scalars.dropFirst(count - 1).dropLast())
                        check(.beginsWith, String(scalars.prefix(count)))
                        check(.endsWith, String(scalars.suffix(count)))
                        check(.contains, String(scalars.dropFirst(count - 1).prefix(2)))
                        check(.like, "*\(middle)?")
                        check(.like, String(repeating: "?", count: count) + String(scalars.dropFirst(count)))
                    }
                }
            }
        }
        #expect(failures.isEmpty, "\(failures.prefix(10))")
    }

    @Test func expansionsAndSingleSignsAreFound() {
        for (text, needle) in [
            ("Straße", "strasse"), ("STRAẞE", "strasse"), ("ﬁn", "fin"), ("\u{212a}elvin", "kelvin"), ("İb", "i\u{307}b"),
            ("ŉo", "\u{2bc}no"),
            ("ſo", "so"), ("oﬃce", "office"), ("ẖb", "h\u{331}b"), ("ẚb", "a\u{2be}b"),
        ] {
            #expect(isFound(text, nil, needle, .caseInsensitive), "\(text)")
            #expect(isFound(text, .like, "*" + needle.dropFirst(), .caseInsensitive), "\(text)")
        }
        for (text, needle) in [
            ("Ébro", "Ebro"), ("E\u{301}b\u{301}ro", "Ebro"), ("\u{301}b", "b"), ("b\u{301}", "b"), ("\u{212a}b", "Kb"), ("≠1", "=1"),
        ] {
            #expect(isFound(text, nil, needle, .diacriticInsensitive), "\(text)")
            #expect(isFound(text, .endsWith, needle, .diacriticInsensitive), "\(text)")
        }
        #expect(isFound("IBRÓ\u{301}", nil, "ibro", .caseAndDiacriticInsensitive))
    }

    @Test func otherTextsAreExcluded() {
        #expect(FoldedNeedle.pattern(nil, "street 12", .caseInsensitive) == [.anyRun, .literal("ree"), .anyRun, .literal(" 12")])
        #expect(FoldedNeedle.pattern(.contains, "b1", .caseAndDiacriticInsensitive)?.contains(.literal("1")) == true)
        #expect(FoldedNeedle.pattern(nil, "ß", .caseInsensitive) == nil)
        #expect(!isFound("Straße 12", nil, "street 12", .caseInsensitive))
        #expect(!isFound("Größe 13", nil, "größe 12", .caseAndDiacriticInsensitive))
    }
}

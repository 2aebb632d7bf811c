internal import PolystoreSchema

/// The text of a regular expression that is matched against folded texts.
///
/// Outside of classes, scalars are folded one by one. A class keeps its scalars, of which folded texts contain only those that folding does
/// not change, and gets the folded forms of the others. A scalar that folds to several is in no class.
struct FoldedPattern {
    private let options: TextOptions
    private var rest: Substring.UnicodeScalarView
    private var result = String.UnicodeScalarView()

    /// Returns the folded pattern of a text that is a valid pattern.
    static func text(_ pattern: String, _ options: TextOptions) -> String {
        var folding = FoldedPattern(options: options, rest: Substring(pattern).unicodeScalars)
        folding.fold()
        return String(folding.result)
    }

    private init(options: TextOptions, rest: Substring.UnicodeScalarView) {
        self.options = options
        self.rest = rest
    }

    private mutating func fold() {
        while let scalar = rest.popFirst() {
            if scalar == "[" {
                result.append(scalar)
                foldClass()
            } else if scalar == "\\", let next = rest.popFirst() {
                // An escaped scalar names a class or represents itself.
                if next.isASCII { result.append(contentsOf: [scalar, next]) } else { append(folded(next)) }
            } else {
                append(folded(scalar))
            }
        }
    }

    private func folded(_ scalar: Unicode.Scalar) -> [Unicode.Scalar] {
        Array(TextFolding.fold(String(Character(scalar)), options).unicodeScalars)
    }

    /// Appends one or several scalars, or the place of a removed one, which are repeated together.
    private mutating func append(_ scalars: [Unicode.Scalar]) {
        if scalars.count != 1 { result.append(contentsOf: "(?:".unicodeScalars) }
        result.append(contentsOf: scalars)
        if scalars.count != 1 { result.append(")") }
    }

    private mutating func foldClass() {
        if rest.first == "^", let sign = rest.popFirst() { result.append(sign) }
        var ranges: [ClosedRange<UInt32>] = [], isFirst = true
        while let scalar = rest.popFirst(), scalar != "]" || isFirst {
            isFirst = false
            let (low, isClass) = member(scalar)
            if isClass { continue }
            var ahead = rest
            if ahead.popFirst() == "-", let last = ahead.popFirst(), last != "]" {
                rest = ahead
                result.append("-")
                let high = member(last).scalar
                if low <= high { ranges.append(low.value...high.value) }
            } else {
                ranges.append(low.value...low.value)
            }
        }
        for scalar in TextFolding.folded where ranges.contains(where: { $0.contains(scalar) }) {
            guard let scalar = Unicode.Scalar(scalar) else { continue }
            let folded = folded(scalar)
            // Only "]", "\\", "-" and "^" have a meaning in a class, and no scalar folds to one of them.
            if folded.count == 1 { result.append(folded[0]) }
        }
        result.append("]")
    }

    /// Copies one member of a class. Returns the scalar that it represents, and whether it names a class itself.
    private mutating func member(_ first: Unicode.Scalar) -> (scalar: Unicode.Scalar, isClass: Bool) {
        // At the end of the class it would form a range with the scalar that follows it now.
        if first == "-" { result.append("\\") }
        result.append(first)
        guard first == "\\", let escaped = rest.popFirst() else { return (first, false) }
        result.append(escaped)
        switch escaped {
        case "d", "D", "w", "W", "s", "S": return (escaped, true)
        case "n": return ("\n", false)
        case "r": return ("\r", false)
        case "t": return ("\t", false)
        default: return (escaped, false)
        }
    }
}

internal import Foundation
internal import PolystoreStorage

/// Searches for words, by the contract's description: lists of words that are compared one after the other.
extension ReferenceStore {
    /// Returns whether a text matches a query. Refused queries are never passed to it.
    func isFound(_ text: String, _ query: String) -> Bool {
        let words = Self.words(text)
        var isWanted = true, either: Bool?, isOr = false
        for piece in Self.pieces(query) {
            if piece == "OR" {
                isOr = true
                continue
            }
            let isExcluded = piece.hasPrefix("-")
            let isPrefix = piece.hasSuffix("*") || piece.hasSuffix("*\"")
            let wanted = Self.words(piece)
            if wanted.isEmpty { continue }
            let isThere = words.indices.contains { start in
                start + wanted.count <= words.count
                    && wanted.indices.allSatisfy { place in
                        let word = words[start + place]
                        return isPrefix && place == wanted.count - 1 ? word.hasPrefix(wanted[place]) : word == wanted[place]
                    }
            }
            if isExcluded {
                if isThere { isWanted = false }
            } else if isOr {
                either = (either ?? false) || isThere
            } else {
                if either == false { isWanted = false }
                either = isThere
            }
            isOr = false
        }
        return isWanted && either == true
    }

    /// Returns the words of a text by Foundation's folding tables: the cases use only letters that Polystore folds in the same way.
    static func words(_ text: String) -> [String] {
        var words = [""]
        for scalar in text.unicodeScalars {
            switch scalar.properties.generalCategory {
            case .uppercaseLetter, .lowercaseLetter, .titlecaseLetter, .modifierLetter, .otherLetter, .nonspacingMark, .spacingMark,
                .enclosingMark, .decimalNumber:
                words[words.count - 1].unicodeScalars.append(scalar)
            default: words.append("")
            }
        }
        return words.map { $0.folding(options: .diacriticInsensitive, locale: nil).lowercased() }.filter { !$0.isEmpty }
    }

    /// Returns the parts of a query between spaces, with each quoted part as one.
    private static func pieces(_ query: String) -> [String] {
        var pieces: [String] = [], piece = "", isQuoted = false
        for scalar in query.unicodeScalars {
            let isQuote = scalar == "\""
            if (scalar == " " && !isQuoted) || (isQuote && !isQuoted && piece != "-") {
                pieces.append(piece)
                piece = ""
            }
            if isQuote || isQuoted || scalar != " " { piece.unicodeScalars.append(scalar) }
            if isQuote, isQuoted {
                pieces.append(piece)
                piece = ""
            }
            if isQuote { isQuoted.toggle() }
        }
        return (pieces + [piece]).filter { !$0.isEmpty }
    }
}

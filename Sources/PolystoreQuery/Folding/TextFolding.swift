/// Folds texts, so that comparing the folded texts is equivalent to comparing the originals with options.
///
/// Case is folded by Unicode's full case folding; diacritics by canonical decomposition without the nonspacing marks (general category Mn).
/// Both use tables of one version of Unicode, so that every store and every machine folds equally.
package enum TextFolding {
    /// Returns the folded form of a text. Folding is idempotent. O(n).
    package static func fold(_ text: String, _ options: TextOptions) -> String {
        if options.isEmpty { return text }
        // Nearly every text is ASCII: it has no diacritics, and its case is one bit.
        var text = text
        let ascii = text.withUTF8 { bytes -> String? in
            if bytes.contains(where: { $0 >= 0x80 }) { return nil }
            guard options.contains(.caseInsensitive), bytes.contains(where: { (0x41...0x5a).contains($0) }) else {
                return String(decoding: bytes, as: UTF8.self)
            }
            return String(unsafeUninitializedCapacity: bytes.count) { target in
                for (index, byte) in bytes.enumerated() { target[index] = (0x41...0x5a).contains(byte) ? byte | 0x20 : byte }
                return bytes.count
            }
        }
        if let ascii { return ascii }
        let tables = Tables.shared
        var scalars = Array(text.unicodeScalars)
        if options.contains(.diacriticInsensitive) { scalars = tables.withoutMarks(scalars) }
        if options.contains(.caseInsensitive) {
            scalars = scalars.flatMap { tables.folds[$0.value] ?? [$0] }
            // The result of case folding can contain marks.
            if options.contains(.diacriticInsensitive) { scalars = tables.withoutMarks(scalars) }
        }
        var folded = String.UnicodeScalarView()
        folded.append(contentsOf: scalars)
        return String(folded)
    }

    /// The scalars that folding can change, except Hangul syllables, in ascending order.
    static let folded: [UInt32] = {
        let tables = Tables.shared
        return Set(tables.folds.keys).union(tables.parts.keys).union(tables.marks.joined()).sorted()
    }()

    private struct Tables: Sendable {
        static let shared = Tables()

        let folds: [UInt32: [Unicode.Scalar]]
        let parts: [UInt32: [Unicode.Scalar]]
        private let classes: [UInt32: UInt8]
        let marks: [ClosedRange<UInt32>]

        private init() {
            func number(_ text: Substring) -> UInt32 { UInt32(text, radix: 16) ?? 0 }
            func map(_ table: String) -> [UInt32: [Unicode.Scalar]] {
                var result: [UInt32: [Unicode.Scalar]] = [:]
                for item in table.split(separator: " ") {
                    let sides = item.split(separator: ":")
                    result[number(sides[0])] = sides[1].split(separator: ",").compactMap { Unicode.Scalar(number($0)) }
                }
                return result
            }
            folds = map(FoldingTables.caseFolding)
            parts = map(FoldingTables.decomposition)
            classes = map(FoldingTables.combiningClasses).mapValues { UInt8($0[0].value) }
            marks = FoldingTables.nonspacingMarks.split(separator: " ").map { item in
                let sides = item.split(separator: "-")
                return number(sides[0])...number(sides[1])
            }
        }

        private func isMark(_ scalar: UInt32) -> Bool {
            var low = 0, high = marks.count
            while low < high {
                let middle = (low + high) / 2
                if marks[middle].upperBound < scalar { low = middle + 1 } else { high = middle }
            }
            return low < marks.count && marks[low].contains(scalar)
        }

        /// Returns the canonical decomposition without nonspacing marks.
        func withoutMarks(_ scalars: [Unicode.Scalar]) -> [Unicode.Scalar] {
            var result: [Unicode.Scalar] = []
            result.reserveCapacity(scalars.count)
            for scalar in scalars {
                if let parts = parts[scalar.value] {
                    result += parts.filter { !isMark($0.value) }
                } else if let parts = Self.hangul(scalar.value) {
                    result += parts
                } else if !isMark(scalar.value) {
                    result.append(scalar)
                }
            }
            reorder(&result)
            return result
        }

        /// Orders the few remaining marks that have a combining class by their classes.
        private func reorder(_ scalars: inout [Unicode.Scalar]) {
            var index = 1
            while index < scalars.count {
                if let own = classes[scalars[index].value] {
                    var place = index
                    while place > 0, let before = classes[scalars[place - 1].value], before > own {
                        scalars.swapAt(place, place - 1)
                        place -= 1
                    }
                }
                index += 1
            }
        }

        /// Returns the letters of a Hangul syllable (The Unicode Standard, section 3.12).
        private static func hangul(_ scalar: UInt32) -> [Unicode.Scalar]? {
            guard (0xac00...0xd7a3).contains(scalar) else { return nil }
            let index = scalar - 0xac00
            let letters = [0x1100 + index / 588, 0x1161 + index % 588 / 28, 0x11a7 + index % 28]
            return letters.prefix(index % 28 == 0 ? 2 : 3).compactMap(Unicode.Scalar.init)
        }
    }
}

/// The words of a text: maximal runs of letters, marks and digits (general categories L, M and Nd), with case and diacritics folded.
///
/// Everything else only separates words. Tables of one version of Unicode define letters and folding, so that every store and every machine
/// finds the same words.
package struct SearchWords: Sendable, Hashable {
    /// The bytes of the words, concatenated.
    private var bytes: [UInt8] = []
    /// The end of each word.
    private var ends: [Int] = []

    /// Creates the words of a text, in its order. O(n).
    package init(_ text: String) {
        var text = text
        self = text.withUTF8 { SearchWords(utf8: UnsafeRawBufferPointer($0)) }
    }

    /// Creates the words of a text that is given by its bytes.
    package init(utf8 text: UnsafeRawBufferPointer) {
        let members = WordScalars.shared
        var start = -1, isASCII = true, offset = 0
        while offset < text.count {
            let byte = text[offset]
            let (scalar, length) = byte < 0x80 ? (UInt32(byte), 1) : Self.scalar(text, offset)
            if members.contains(scalar) {
                if start < 0 { (start, isASCII) = (offset, true) }
                if byte >= 0x80 { isASCII = false }
            } else if start >= 0 {
                append(UnsafeRawBufferPointer(rebasing: text[start..<offset]), isASCII)
                start = -1
            }
            offset += length
        }
        if start >= 0 { append(UnsafeRawBufferPointer(rebasing: text[start...]), isASCII) }
    }

    /// The scalars of words, as ascending ranges.
    package static var scalars: [ClosedRange<UInt32>] { WordScalars.ranges }

    /// The scalars of words that folding changes, with their folded forms. Hangul syllables are omitted; they are decomposed canonically.
    package static var foldings: [(scalar: Unicode.Scalar, folded: String)] {
        TextFolding.folded.compactMap { number in
            guard WordScalars.shared.contains(number), let scalar = Unicode.Scalar(number) else { return nil }
            let text = String(scalar), folded = TextFolding.fold(text, .caseAndDiacriticInsensitive)
            return folded.unicodeScalars.elementsEqual(text.unicodeScalars) ? nil : (scalar, folded)
        }
    }

    /// Returns the words of a text with one space between them.
    package static func joined(utf8 text: UnsafeRawBufferPointer) -> [UInt8] {
        let words = SearchWords(utf8: text)
        var result: [UInt8] = []
        result.reserveCapacity(words.bytes.count + words.count)
        for index in 0..<words.count {
            if index > 0 { result.append(0x20) }
            result += words[index]
        }
        return result
    }

    /// The number of words.
    package var count: Int { ends.count }

    /// The words as texts.
    package var list: [String] { ends.indices.map { String(decoding: self[$0], as: UTF8.self) } }

    /// Returns the bytes of a word.
    package subscript(index: Int) -> ArraySlice<UInt8> { bytes[(index == 0 ? 0 : ends[index - 1])..<ends[index]] }

    private mutating func append(_ run: UnsafeRawBufferPointer, _ isASCII: Bool) {
        if isASCII {
            for byte in run { bytes.append((0x41...0x5a).contains(byte) ? byte | 0x20 : byte) }
        } else {
            bytes += TextFolding.fold(String(decoding: run, as: UTF8.self), .caseAndDiacriticInsensitive).utf8
        }
        // A word that consists only of marks is empty after folding.
        if bytes.count > ends.last ?? 0 { ends.append(bytes.count) }
    }

    /// Returns a scalar of more than one byte and its length. Texts of stores are well-formed. In other texts the only consequence is a
    /// wrong scalar.
    private static func scalar(_ text: UnsafeRawBufferPointer, _ offset: Int) -> (UInt32, Int) {
        let lead = UInt32(text[offset])
        let length = lead >= 0xf0 ? 4 : (lead >= 0xe0 ? 3 : 2)
        guard offset + length <= text.count else { return (0, text.count - offset) }
        var scalar = lead & (0x7f >> UInt32(length))
        for index in 1..<length { scalar = scalar << 6 | UInt32(text[offset + index]) & 0x3f }
        return (scalar, length)
    }
}

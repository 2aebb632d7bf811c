/// The line that is being typed at a terminal: its text, the cursor, and the keys that change them.
///
/// It only interprets bytes, so that it can be tested without a terminal. The keys are those of the Emacs mode of readline.
struct LineEditor {
    /// The result of a byte.
    enum Event: Equatable {
        /// The line is complete.
        case line(String)
        /// Control-C: the line is discarded.
        case cancelled
        /// Control-D in an empty line: the input ends.
        case end
        /// The tab key: the text before the cursor is to be completed.
        case completion
        /// The screen is to be cleared.
        case clear
        /// The line has to be drawn again.
        case changed
    }

    /// The characters of the line.
    private(set) var text: [Character] = []
    /// The number of characters before the cursor.
    private(set) var cursor = 0

    /// The earlier lines, the newest last.
    private let history: [String]
    /// The position in the history of the shown line; the number of entries for the typed one.
    private var position: Int
    /// The line that was typed before an earlier one was shown.
    private var typed: [Character] = []
    /// The bytes of an incomplete character.
    private var partial: [UInt8] = []
    /// The bytes of an incomplete escape sequence.
    private var escape: [UInt8]?
    /// The text that was removed last.
    private var removed: [Character] = []

    init(history: [String] = []) {
        self.history = history
        position = history.count
    }

    /// The text before the cursor.
    var before: String { String(text[..<cursor]) }

    /// Takes a byte of the terminal's input. Returns nil if nothing changes on the screen.
    mutating func take(_ byte: UInt8) -> Event? {
        if escape != nil { return takeEscape(byte) }
        // A byte of ASCII ends a character that is not complete.
        if byte < 0x80 { partial = [] }
        if byte >= 0x80 { return takePartial(byte) }
        switch byte {
        case 1: cursor = 0
        case 2: cursor = max(cursor - 1, 0)
        case 3: return .cancelled
        case 4:
            if text.isEmpty { return .end }
            remove(cursor..<min(cursor + 1, text.count), keeps: false)
        case 5: cursor = text.count
        case 6: cursor = min(cursor + 1, text.count)
        case 8, 127: remove(max(cursor - 1, 0)..<cursor, keeps: false)
        case 9: return .completion
        case 10, 13: return .line(String(text))
        case 11: remove(cursor..<text.count)
        case 12: return .clear
        case 14: go(by: 1)
        case 16: go(by: -1)
        case 21: remove(0..<cursor)
        case 23: remove(wordStart..<cursor)
        case 25: insert(removed)
        case 27:
            escape = []
            return nil
        case ..<32: return nil
        default: insert([Character(UnicodeScalar(byte))])
        }
        return .changed
    }

    /// Replaces the last characters before the cursor.
    mutating func replace(last count: Int, with replacement: String) {
        remove(max(cursor - count, 0)..<cursor, keeps: false)
        insert(Array(replacement))
    }

    // MARK: Bytes

    private mutating func takePartial(_ byte: UInt8) -> Event? {
        partial.append(byte)
        let length = partial[0] >= 0xf0 ? 4 : partial[0] >= 0xe0 ? 3 : partial[0] >= 0xc0 ? 2 : 1
        if partial.count < length { return nil }
        let character = String(validating: partial, as: UTF8.self)
        partial = []
        guard let character else { return nil }
        // A combining mark changes the character before it.
        let joined = cursor > 0 ? String(text[cursor - 1]) + character : character
        if cursor > 0, joined.count == 1, let whole = joined.first { text[cursor - 1] = whole } else { insert(Array(character)) }
        return .changed
    }

    private mutating func takeEscape(_ byte: UInt8) -> Event? {
        var sequence = escape ?? []
        sequence.append(byte)
        if sequence == [0x5b] || sequence == [0x4f] || sequence[0] == 0x5b && (0x30...0x3b).contains(byte) && sequence.count < 32 {
            escape = sequence
            return nil
        }
        escape = nil
        switch String(decoding: sequence, as: UTF8.self) {
        case "[A", "OA": go(by: -1)
        case "[B", "OB": go(by: 1)
        case "[C", "OC": cursor = min(cursor + 1, text.count)
        case "[D", "OD": cursor = max(cursor - 1, 0)
        case "[H", "OH", "[1~", "[7~": cursor = 0
        case "[F", "OF", "[4~", "[8~": cursor = text.count
        case "[3~": remove(cursor..<min(cursor + 1, text.count), keeps: false)
        case "[1;5C", "[1;3C", "f": cursor = wordEnd
        case "[1;5D", "[1;3D", "b": cursor = wordStart
        case "d": remove(cursor..<wordEnd)
        case "\u{7f}": remove(wordStart..<cursor)
        default: return nil
        }
        return .changed
    }

    // MARK: Changes

    private mutating func insert(_ characters: [Character]) {
        text.insert(contentsOf: characters, at: cursor)
        cursor += characters.count
    }

    private mutating func remove(_ range: Range<Int>, keeps: Bool = true) {
        if keeps, !range.isEmpty { removed = Array(text[range]) }
        text.removeSubrange(range)
        cursor = range.lowerBound
    }

    private var wordStart: Int {
        var place = cursor
        while place > 0, !text[place - 1].isPartOfWord { place -= 1 }
        while place > 0, text[place - 1].isPartOfWord { place -= 1 }
        return place
    }

    private var wordEnd: Int {
        var place = cursor
        while place < text.count, !text[place].isPartOfWord { place += 1 }
        while place < text.count, text[place].isPartOfWord { place += 1 }
        return place
    }

    /// Shows an older or a newer line of the history that begins with what was typed.
    private mutating func go(by step: Int) {
        if position == history.count { typed = text }
        var next = position + step
        while history.indices.contains(next), !history[next].hasPrefix(String(typed)) || Array(history[next]) == text { next += step }
        if next > history.count || next < 0 { return }
        position = next
        text = next == history.count ? typed : Array(history[next])
        cursor = text.count
    }
}

extension Character {
    fileprivate var isPartOfWord: Bool { isLetter || isNumber || self == "_" }
}

internal import Foundation

/// The number of columns that text occupies on a terminal.
enum TerminalWidth {
    /// Returns the number of columns of a character: two for wide ones, such as Chinese characters and most emoji.
    static func of(_ character: Character) -> Int {
        guard let scalar = character.unicodeScalars.first else { return 0 }
        if character.unicodeScalars.contains(where: { $0.value == 0xfe0f || $0.properties.isEmojiPresentation }) { return 2 }
        // The blocks that the East Asian Width property of Unicode (annex 11) counts as wide.
        switch scalar.value {
        case 0x1100...0x115f, 0x2e80...0x303e, 0x3041...0xa4cf, 0xa960...0xa97c, 0xac00...0xd7a3, 0xf900...0xfaff, 0xfe30...0xfe6f,
            0xff01...0xff60, 0xffe0...0xffe6, 0x20000...0x3fffd:
            return 2
        default: return scalar.properties.generalCategory == .nonspacingMark ? 0 : 1
        }
    }

    /// Returns whether a scalar stands for itself on a terminal. Others move the cursor, or change the order of the text.
    static func isShown(_ scalar: Unicode.Scalar) -> Bool {
        switch scalar.properties.generalCategory {
        case .control, .lineSeparator, .paragraphSeparator: false
        // The joiner is part of emoji.
        case .format: scalar.value == 0x200d
        default: true
        }
    }

    /// Returns the number of columns of a text.
    static func of(_ text: some Sequence<Character>) -> Int { text.reduce(0) { $0 + of($1) } }

    /// The number of columns of the terminal of a file descriptor; 80 if it is unknown.
    static func columns(_ descriptor: Int32) -> Int {
        var size = winsize()
        let isKnown = ioctl(descriptor, UInt(TIOCGWINSZ), &size) == 0 && size.ws_col > 0
        return isKnown ? Int(size.ws_col) : 80
    }
}

internal import Foundation
internal import PolystoreStorage

/// Asks for a password at the terminal, which does not show it.
enum PasswordQuestion {
    /// Whether a question may be asked. A completion of the shell must not ask.
    @TaskLocal static var isAllowed = true

    /// Returns the typed password; nil without a terminal, and if none was typed.
    ///
    /// - Throws: `cancelled` after Control-C.
    static func ask(_ store: String) throws(StorageError) -> String? {
        let input = FileHandle.standardInput.fileDescriptor
        var original = termios()
        guard isAllowed, isatty(input) == 1, tcgetattr(input, &original) == 0 else { return nil }
        var silent = original
        // Without ISIG a signal cannot end the program while the terminal shows nothing.
        silent.c_lflag &= ~tcflag_t(ECHO | ICANON | ISIG)
        guard tcsetattr(input, TCSAFLUSH, &silent) == 0 else { return nil }
        defer {
            tcsetattr(input, TCSADRAIN, &original)
            Console.error("")
        }
        try? FileHandle.standardError.write(contentsOf: Data("password for \(store): ".utf8))
        var text: [UInt8] = [], byte: UInt8 = 0
        while true {
            let count = read(input, &byte, 1)
            if count < 0, errno == EINTR { continue }
            if count <= 0 { return nil }
            switch byte {
            case 0x0a, 0x0d: return text.isEmpty ? nil : String(decoding: text, as: UTF8.self)
            case 0x03: throw StorageError(.cancelled, "no password was typed")
            case 0x04: return nil
            case 0x08, 0x7f: if !text.isEmpty { text.removeLast() }
            case 0x15: text = []
            default: text.append(byte)
            }
        }
    }
}

internal import Foundation

/// Where the command writes: answers to the output, everything else to the error stream.
enum Console {
    static func print(_ text: String) { FileHandle.standardOutput.write(Data((text + "\n").utf8)) }

    static func error(_ text: String) { FileHandle.standardError.write(Data((text + "\n").utf8)) }

    /// Replaces the present line of a terminal.
    static func status(_ text: String) { FileHandle.standardError.write(Data(("\r\u{1b}[K" + text).utf8)) }

    static var errorIsTerminal: Bool { isatty(FileHandle.standardError.fileDescriptor) == 1 }
}

internal import Foundation
internal import PolystoreStorage

/// Where the command writes: answers to the output, everything else to the error stream.
enum Console {
    /// Writes a line; where nobody can read it the program has nothing more to do.
    static func print(_ text: String) {
        do throws(StorageError) { try write(Data((text + "\n").utf8)) } catch { Failure.end(error) }
    }

    /// Writes bytes to the output.
    static func write(_ data: Data) throws(StorageError) {
        do { try FileHandle.standardOutput.write(contentsOf: data) } catch {
            throw StorageError(
                .inputOutput, "the output cannot be written; look whether its disk is full or its reader has ended", cause: error)
        }
    }

    // There is nowhere to report that the error stream cannot be written.
    static func error(_ text: String) { try? FileHandle.standardError.write(contentsOf: Data((text + "\n").utf8)) }

    /// Replaces the present line of a terminal.
    static func status(_ text: String) { try? FileHandle.standardError.write(contentsOf: Data(("\r\u{1b}[K" + text).utf8)) }

    static var errorIsTerminal: Bool { isatty(FileHandle.standardError.fileDescriptor) == 1 }
}

internal import Foundation

/// Asks for confirmation before data of a store is changed.
enum Question {
    /// Continues if the answer is yes, or if `--yes` was given.
    ///
    /// - Throws: The exit code of a refusal if the answer is no, or if the input is not a terminal.
    static func confirm(_ question: String, isConfirmed: Bool) throws {
        if isConfirmed { return }
        guard isatty(FileHandle.standardInput.fileDescriptor) == 1 else {
            Console.error("polystore: nothing was changed; the input is not a terminal, so confirm with --yes")
            throw Failure.refused
        }
        FileHandle.standardError.write(Data("\(question) [y/N] ".utf8))
        if ["y", "yes"].contains(readLine()?.lowercased() ?? "") { return }
        Console.error("polystore: nothing was changed")
        throw Failure.refused
    }
}

internal import Foundation

/// Asks before something is changed that a store keeps.
enum Question {
    /// Goes on when the answer is yes, or was given beforehand by `--yes`.
    ///
    /// - Throws: The exit code of a refusal when the answer is no, and where nobody can be asked.
    static func confirm(_ question: String, isConfirmed: Bool) throws {
        if isConfirmed { return }
        guard isatty(FileHandle.standardInput.fileDescriptor) == 1 else {
            Console.error("polystore: nothing was changed; where nobody can be asked, --yes is the answer")
            throw Failure.refused
        }
        FileHandle.standardError.write(Data("\(question) [y/N] ".utf8))
        if ["y", "yes"].contains(readLine()?.lowercased() ?? "") { return }
        Console.error("polystore: nothing was changed")
        throw Failure.refused
    }
}

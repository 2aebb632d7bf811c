internal import ArgumentParser
internal import Foundation
internal import PolystoreStorage

/// Ends the program with one sentence and an exit code that indicates the kind of failure.
enum Failure {
    static let differs = ExitCode(1), trouble = ExitCode(2), incomplete = ExitCode(3), refused = ExitCode(5)

    /// Ends the program after an error, or with the text that was requested, such as help.
    static func end(_ error: any Error) -> Never {
        guard let error = error as? StorageError else { end(message: error) }
        let isInterrupted = error.code == .cancelled && Interruption.isAsked
        show(isInterrupted ? "interrupted" : UsedStores.message(of: error))
        Foundation.exit(code(error).rawValue)
    }

    private static func show(_ message: String) { Console.error("\(TextColor.red.error("polystore:")) \(message)") }

    /// Ends the program with a text of the argument parser. It is an error if a requested text cannot be written.
    private static func end(message error: any Error) -> Never {
        let code = PolystoreCommand.exitCode(for: error)
        // The parser would show the usage of the program, and not of the command.
        if let error = error as? ValidationError {
            show("\(error.message); polystore help describes the commands and their options")
            Foundation.exit(code.rawValue)
        }
        let text = PolystoreCommand.fullMessage(for: error)
        if !text.isEmpty {
            do throws(StorageError) {
                if code.isSuccess { try Console.write(Data((text + "\n").utf8)) } else { Console.error(text) }
            } catch {
                end(error)
            }
        }
        Foundation.exit(code.rawValue)
    }

    /// Returns the exit code, which distinguishes refusals for safety, interruptions, and other failures.
    static func code(_ error: StorageError) -> ExitCode {
        switch error.code {
        case .alreadyExists, .schemaMismatch, .dataLossRefused, .noMigrationPath, .storeMoved: refused
        case .cancelled: ExitCode(Interruption.exitCode)
        default: trouble
        }
    }
}

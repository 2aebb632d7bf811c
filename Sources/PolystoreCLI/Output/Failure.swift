internal import ArgumentParser
internal import Foundation
internal import PolystoreStorage

/// Ends the program with one sentence and an exit code that indicates the kind of failure.
enum Failure {
    static let differs = ExitCode(1), trouble = ExitCode(2), incomplete = ExitCode(3), refused = ExitCode(5)

    static func end(_ error: any Error) -> Never {
        guard let error = error as? StorageError else { PolystoreCommand.exit(withError: error) }
        let isInterrupted = error.code == .cancelled && Interruption.isAsked
        Console.error(isInterrupted ? "polystore: interrupted" : "polystore: \(error.message)")
        Foundation.exit(code(error).rawValue)
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

internal import Foundation
internal import PolystoreStorage

/// A program that is installed beside this one, so that what it needs is not part of this one.
struct SiblingProgram {
    let name: String
    /// The sentence that says how the program is installed.
    let remedy: String

    /// Runs the program in place of this one.
    ///
    /// - Throws: `notFound` if there is no such program.
    func run(_ arguments: [String]) throws(StorageError) -> Never {
        for path in places { Self.replaceProcess(path, [name] + arguments) }
        throw StorageError(.notFound, "the program \(name) is not installed: \(remedy)")
    }

    /// The paths at which the program can be: beside this one, then in the folders of PATH.
    private var places: [String] {
        let own = (Bundle.main.executableURL?.resolvingSymlinksInPath().deletingLastPathComponent().path).map { [$0] } ?? []
        let folders = (ProcessInfo.processInfo.environment["PATH"] ?? "").split(separator: ":").map(String.init)
        return (own + folders).map { "\($0)/\(name)" }
    }

    /// Returns if there is no such program.
    private static func replaceProcess(_ path: String, _ arguments: [String]) {
        var pointers: [UnsafeMutablePointer<CChar>?] = arguments.map { strdup($0) }
        defer { for pointer in pointers { free(pointer) } }
        pointers.append(nil)
        // A signal that is ignored here would be ignored there too.
        signal(SIGPIPE, SIG_DFL)
        execv(path, pointers)
        signal(SIGPIPE, SIG_IGN)
    }
}

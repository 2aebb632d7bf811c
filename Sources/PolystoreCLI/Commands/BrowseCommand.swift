internal import ArgumentParser
internal import Foundation
internal import PolystoreStorage

/// `polystore browse`, which runs the program `polystore-browse`.
struct BrowseCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "browse", abstract: "Shows a store in a web browser on this machine, without changing it.",
        discussion: """
            The pages are served by the program polystore-browse, which is a package of its own in the folder Sources/Browse of the repository; it is \
            looked for beside this program and in PATH.

            The address that is printed works once, in one browser. The server listens on 127.0.0.1 only; Control-C ends it.
            """)

    @Argument(help: "The store to read, as a URL.")
    var store: String

    @Option(help: "The port to listen on, instead of any free one.")
    var port: Int?

    @Flag(help: "Open the address in the web browser of the system.")
    var open = false

    private static let program = "polystore-browse"

    func validate() throws {
        if let port, !(0...65_535).contains(port) { throw ValidationError("--port must be from 1 to 65535") }
    }

    func run() throws {
        let options = (port.map { ["--port", String($0)] } ?? []) + (open ? ["--open"] : [])
        // A store whose name begins with a minus sign is not an option.
        let arguments = [Self.program] + options + ["--", store]
        for path in Self.places { Self.replaceProcess(path, arguments) }
        throw StorageError(
            .notFound,
            "the program \(Self.program) is not installed: build it with \"swift build -c release\" in the folder Sources/Browse of the Polystore "
                + "repository, and copy it beside polystore or into a folder of PATH")
    }

    /// The paths at which the program can be: beside this one, then in the folders of PATH.
    private static var places: [String] {
        let own = (Bundle.main.executableURL?.resolvingSymlinksInPath().deletingLastPathComponent().path).map { [$0] } ?? []
        let folders = (ProcessInfo.processInfo.environment["PATH"] ?? "").split(separator: ":").map(String.init)
        return (own + folders).map { "\($0)/\(program)" }
    }

    /// Runs a program in place of this one. Returns if there is no such program.
    private static func replaceProcess(_ path: String, _ arguments: [String]) {
        var pointers: [UnsafeMutablePointer<CChar>?] = arguments.map { strdup($0) }
        defer { for pointer in pointers { free(pointer) } }
        pointers.append(nil)
        execv(path, pointers)
    }
}

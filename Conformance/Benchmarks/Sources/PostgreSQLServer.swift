import Foundation

/// A private PostgreSQL server on a Unix socket, with fsync on, for the duration of the run.
final class PostgreSQLServer {
    private let folder: String
    private let tools: String
    private let data: String
    /// The connection URL for libpq and for the store.
    let url: String

    init() throws {
        guard let tools = Self.findTools() else { throw BenchmarkError.noServer }
        self.tools = tools
        // The path of a socket has at most 107 bytes, so the folder has a short path.
        folder = "/tmp/polystore-bench-\(ProcessInfo.processInfo.processIdentifier)"
        data = folder + "/data"
        let port = 20_000 + Int.random(in: 0..<20_000)
        url = "postgresql:///postgres?host=\(folder)&port=\(port)&user=postgres"
        try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
        if getuid() == 0 { try Self.run("/bin/chown", ["postgres", folder]) }
        try asPostgres("initdb", ["-D", data, "-U", "postgres", "-A", "trust", "--no-locale", "-E", "UTF8"])
        let options = "-c listen_addresses= -c unix_socket_directories=\(folder) -p \(port)"
        try asPostgres("pg_ctl", ["-D", data, "-l", folder + "/log", "-w", "-t", "30", "-o", options, "start"])
    }

    func stop() {
        try? asPostgres("pg_ctl", ["-D", data, "-m", "immediate", "-w", "stop"])
        try? FileManager.default.removeItem(atPath: folder)
    }

    private static func findTools() -> String? {
        let root = "/usr/lib/postgresql"
        let versions = ((try? FileManager.default.contentsOfDirectory(atPath: root)) ?? []).sorted { (Int($0) ?? 0) > (Int($1) ?? 0) }
        let places = versions.map { "\(root)/\($0)/bin" } + ["/opt/homebrew/bin", "/usr/local/bin"]
        return places.first { FileManager.default.isExecutableFile(atPath: $0 + "/initdb") }
    }

    /// Runs a tool as the user postgres, because a server refuses to run as root.
    private func asPostgres(_ tool: String, _ arguments: [String]) throws {
        if getuid() == 0 {
            try Self.run("/sbin/runuser", ["-u", "postgres", "--", "\(tools)/\(tool)"] + arguments)
        } else {
            try Self.run("\(tools)/\(tool)", arguments)
        }
    }

    /// Runs a program and waits for it alone. Foundation's `Process` would also wait for the server that `pg_ctl` starts, because it
    /// inherits a descriptor.
    private static func run(_ path: String, _ arguments: [String]) throws {
        var actions = posix_spawn_file_actions_t()
        posix_spawn_file_actions_init(&actions)
        defer { posix_spawn_file_actions_destroy(&actions) }
        for descriptor in [0, 1, 2] as [Int32] { posix_spawn_file_actions_addopen(&actions, descriptor, "/dev/null", O_RDWR, 0) }
        var words: [UnsafeMutablePointer<CChar>?] = ([path] + arguments).map { strdup($0) }
        defer { for word in words { free(word) } }
        words.append(nil)
        var process = pid_t(), status: Int32 = 0
        guard posix_spawn(&process, path, &actions, nil, words, nil) == 0, waitpid(process, &status, 0) == process, status == 0 else {
            throw BenchmarkError.noServer
        }
    }
}

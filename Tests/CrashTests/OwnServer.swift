import Foundation

/// A PostgreSQL server for one test, which may stop it; nil where the programs of one are not installed.
struct OwnServer {
    private let folder = "/tmp/polystore-own-\(ProcessInfo.processInfo.processIdentifier)-\(Int.random(in: 0..<1000))"
    private let tools: String
    /// The address for the store.
    var url: String { Self.url(folder, 5432) }
    /// That of a standby.
    var standbyURL: String { Self.url(folder, 5433) }

    private static func url(_ folder: String, _ port: Int) -> String { "postgresql:///postgres?host=\(folder)&port=\(port)&user=postgres" }

    init?() {
        let root = "/usr/lib/postgresql"
        let versions = ((try? FileManager.default.contentsOfDirectory(atPath: root)) ?? []).sorted { (Int($0) ?? 0) > (Int($1) ?? 0) }
        let places = versions.map { "\(root)/\($0)/bin" } + ["/opt/homebrew/bin", "/usr/local/bin"]
        guard let found = places.first(where: { FileManager.default.isExecutableFile(atPath: $0 + "/initdb") }) else { return nil }
        tools = found
        do {
            try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
            if getuid() == 0 { try Self.run(["/bin/chown", "postgres", folder]) }
            try asPostgres("initdb", "-D", "\(folder)/data", "-U", "postgres", "-A", "trust", "--no-locale", "-E", "UTF8", "--no-sync")
            try start()
        } catch {
            remove()
            return nil
        }
    }

    func start() throws { try start("data", 5432) }

    /// Starts a standby that follows the server.
    func startStandby() throws {
        try asPostgres("pg_basebackup", "-h", folder, "-U", "postgres", "-D", "\(folder)/standby", "-R", "-c", "fast", "--no-sync")
        try start("standby", 5433)
    }

    private func start(_ name: String, _ port: Int) throws {
        let options =
            "-c listen_addresses= -c port=\(port) -c unix_socket_directories=\(folder) -c fsync=off -c max_prepared_transactions=20"
        try asPostgres("pg_ctl", "-D", "\(folder)/\(name)", "-l", "\(folder)/\(name).log", "-w", "-t", "30", "-o", options, "start")
    }

    /// Lets every commit wait for a standby that is not there, as for one that is slow; or lets go those that wait.
    func setSlow(_ isSlow: Bool) throws {
        let setting = isSlow ? "ALTER SYSTEM SET synchronous_standby_names = 'nobody'" : "ALTER SYSTEM RESET synchronous_standby_names"
        try asPostgres("psql", "-h", folder, "-U", "postgres", "-q", "-c", setting, "-c", "SELECT pg_reload_conf()", "-o", "/dev/null")
    }

    /// Restores a dump of it into a new cluster, which takes its place.
    func moveToAnotherCluster() throws {
        let dump = "\(folder)/dump.sql"
        try asPostgres("pg_dump", "-h", folder, "-U", "postgres", "-f", dump, "postgres")
        try stop()
        try FileManager.default.moveItem(atPath: "\(folder)/data", toPath: "\(folder)/old")
        try asPostgres("initdb", "-D", "\(folder)/data", "-U", "postgres", "-A", "trust", "--no-locale", "-E", "UTF8", "--no-sync")
        try start()
        try asPostgres("psql", "-h", folder, "-U", "postgres", "-q", "-f", dump, "-o", "/dev/null", "postgres")
    }

    func stop() throws { try stop("data") }

    private func stop(_ name: String) throws { try asPostgres("pg_ctl", "-D", "\(folder)/\(name)", "-m", "immediate", "-w", "stop") }

    func remove() {
        try? stop("standby")
        try? stop()
        try? FileManager.default.removeItem(atPath: folder)
    }

    /// A server refuses to run as root.
    private func asPostgres(_ tool: String, _ arguments: String...) throws {
        let command = ["\(tools)/\(tool)"] + arguments
        try Self.run(getuid() == 0 ? ["/sbin/runuser", "-u", "postgres", "--"] + command : command)
    }

    /// Runs a program and waits for it alone: `Process` would also wait for the server that `pg_ctl` leaves behind.
    private static func run(_ words: [String]) throws {
        struct Failure: Error {}
        var actions = posix_spawn_file_actions_t()
        posix_spawn_file_actions_init(&actions)
        defer { posix_spawn_file_actions_destroy(&actions) }
        for descriptor in [0, 1, 2] as [Int32] { posix_spawn_file_actions_addopen(&actions, descriptor, "/dev/null", O_RDWR, 0) }
        var arguments: [UnsafeMutablePointer<CChar>?] = words.map { strdup($0) }
        defer { for argument in arguments { free(argument) } }
        arguments.append(nil)
        var process = pid_t(), status: Int32 = 0
        guard posix_spawn(&process, words[0], &actions, nil, arguments, nil) == 0, waitpid(process, &status, 0) == process, status == 0
        else { throw Failure() }
    }
}

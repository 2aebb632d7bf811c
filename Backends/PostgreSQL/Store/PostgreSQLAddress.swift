#if PostgreSQL
internal import CLibPQ
internal import PolystoreFoundation
internal import PolystoreStorage

/// The address of a server and the connection options: those that the program sets, and safe defaults for the others.
struct PostgreSQLAddress {
    private let conninfo: String
    /// The options that the text sets, by libpq's names.
    private let named: [String: String]

    /// Reads a connection string, a URI or the name of a database.
    init(_ conninfo: String) throws(StorageError) {
        self.conninfo = conninfo
        guard conninfo.contains("=") || conninfo.contains("://") else {
            named = [:]
            return
        }
        guard let options = PQconninfoParse(conninfo, nil) else {
            if let error = Self.storeOptions(conninfo) { throw error }
            throw StorageError(
                .invalidConfiguration,
                "the PostgreSQL URL is malformed, or has an option that libpq does not know\(Self.nearestOption(conninfo))")
        }
        defer { PQconninfoFree(options) }
        var named: [String: String] = [:], option = options
        while let keyword = option.pointee.keyword {
            if let value = option.pointee.val { named[String(cString: keyword)] = String(cString: value) }
            option += 1
        }
        self.named = named
    }

    /// The parameters of `PostgreSQLStore.init(conninfo:)` for the options of a store URL, which libpq does not know.
    private static let parameters = [
        "x-schema": "schema", "x-catalog": "catalog", "x-durability": "durability", "x-mode": "readOnly", "x-history": "recordsHistory",
        "x-readers": "readers", "x-read-timeout": "readTimeout",
    ]

    /// Returns the error for a text with options of a store URL; nil if it has none.
    private static func storeOptions(_ conninfo: String) -> StorageError? {
        // The options of a URI are behind a question mark, those of a connection string behind spaces.
        let names = conninfo.split { "?& \t\n".contains($0) }.dropFirst(conninfo.contains("://") ? 1 : 0).map {
            String($0.prefix { $0 != "=" })
        }
        guard let name = names.first(where: { parameters[$0] != nil }), let parameter = parameters[name] else { return nil }
        return StorageError(
            .invalidConfiguration,
            "\(name) is an option of a store URL and not of libpq; open the URL with PostgreSQLStore(url: StoreURL(…)) or a StoreCatalog, or "
                + "remove the option and pass \(parameter): to PostgreSQLStore(conninfo:)")
    }

    /// The names that other libraries give to options of libpq.
    private static let otherNames = ["tlsmode": "sslmode", "tls": "sslmode", "ssl": "sslmode", "username": "user", "database": "dbname"]

    /// Returns the proposal for an unknown option of a URI, which only then is named: other parts may be secret.
    private static func nearestOption(_ conninfo: String) -> String {
        guard conninfo.contains("://"), let start = conninfo.lastIndex(of: "?"), let defaults = PQconndefaults() else { return "" }
        defer { PQconninfoFree(defaults) }
        if conninfo[start...].contains("@") { return "" }
        var known: [String] = [], option = defaults
        while let keyword = option.pointee.keyword {
            known.append(String(cString: keyword))
            option += 1
        }
        let names = conninfo[start...].dropFirst().split(separator: "&").map { String($0.prefix { $0 != "=" }) }
        for name in names where !known.contains(name) {
            let nearest = Suggestion.nearest(Self.otherNames[name.lowercased()] ?? name, in: known)
            if !nearest.isEmpty { return " (\(name.excerpt())\(nearest))" }
        }
        return ""
    }

    /// Whether the parts cannot be names, because a password with characters that are not encoded ends up in them.
    private var isUnclear: Bool {
        let parts = [named["host"], named["hostaddr"], named["dbname"]].compactMap(\.self), port = named["port"] ?? ""
        let areNames = parts.allSatisfy { !$0.dropFirst().contains("@") && !$0.contains("://") } && named["dbname"]?.contains("/") != true
        return !areNames || !port.allSatisfy({ $0.isNumber || $0 == "," })
    }

    /// The host, the port and the database that the text names. Other options may be secret, and so may a text that names none.
    ///
    /// A password with characters that are not encoded ends up in these parts, so nothing of a text is shown whose parts cannot be names.
    var publicText: String {
        if isUnclear { return "at an unclear address" }
        let host = (named["host"] ?? named["hostaddr"]).map { "at \($0)\(named["port"].map { ":\($0)" } ?? "")" } ?? "at the default server"
        return host + (named["dbname"].map { " database \"\($0)\"" } ?? "")
    }

    /// Returns the value of an option from the text, or else from libpq's environment.
    private func option(_ name: String, _ variable: String) -> String? { named[name] ?? ProcessInfo.processInfo.environment[variable] }

    /// Whether no other machine is on the way to the server: it is reached by a socket file or by the machine's own address.
    var isLocal: Bool {
        let hosts: String?
        if let address = option("hostaddr", "PGHOSTADDR") {
            // libpq connects to this address, whatever the host name is.
            hosts = address
        } else if let named = named["host"] {
            hosts = named
        } else if option("service", "PGSERVICE") != nil {
            // The settings of a service take precedence over the variables, and are not known here.
            return false
        } else {
            hosts = option("host", "PGHOST")
        }
        guard let hosts else { return true }
        return hosts.split(separator: ",", omittingEmptySubsequences: false).allSatisfy { host in
            host.isEmpty || host.hasPrefix("/") || host.hasPrefix("@") || host == "localhost" || host == "::1"
                || Self.isLoopback(String(host))
        }
    }

    /// Whether the host is an address, not a name, that begins with 127.
    private static func isLoopback(_ host: String) -> Bool {
        var address = in_addr()
        return inet_pton(AF_INET, host, &address) == 1 && UInt32(bigEndian: address.s_addr) >> 24 == 127
    }

    /// The options that determine how the server must authenticate itself, where the program does not set them: libpq's default accepts any
    /// server, and unencrypted connections.
    var security: [(String, String)] {
        if isLocal || option("sslmode", "PGSSLMODE") != nil { return [] }
        let authorities = FileManager.default.homeDirectoryForCurrentUser.path + "/.postgresql/root.crt"
        if PQlibVersion() < 160_000 || option("sslrootcert", "PGSSLROOTCERT") != nil
            || FileManager.default.fileExists(atPath: authorities)
        {
            return [("sslmode", "verify-full")]
        }
        return [("sslmode", "verify-full"), ("sslrootcert", "system")]
    }

    /// Connects to the server.
    func connect() throws(StorageError) -> OpaquePointer {
        // Later options take precedence: those of the URL over these defaults, and over the URL those that the store depends on. A lost
        // network is detected within half a minute; the system's own timeouts are hours.
        let options =
            [
                ("application_name", "polystore"), ("connect_timeout", "10"), ("keepalives_idle", "15"), ("keepalives_interval", "5"),
                ("keepalives_count", "3"), ("tcp_user_timeout", "30000"),
            ] + security + [("dbname", conninfo), ("client_encoding", "UTF8")]
        var keys: [UnsafePointer<CChar>?] = options.map { UnsafePointer(strdup($0.0)) }
        var values: [UnsafePointer<CChar>?] = options.map { UnsafePointer(strdup($0.1)) }
        defer { for pointer in keys + values { free(UnsafeMutableRawPointer(mutating: pointer)) } }
        keys.append(nil)
        values.append(nil)
        StandardStreams.reserve()
        guard let opened = PQconnectdbParams(keys, values, 1) else {
            throw StorageError(.limitExceeded, "libpq ran out of memory")
        }
        if PQstatus(opened) == CONNECTION_OK { return opened }
        defer { PQfinish(opened) }
        if PQconnectionNeedsPassword(opened) == 1 {
            throw StorageError(.authenticationFailed, "the server asks for a password; provide one with PGPASSFILE or PGPASSWORD")
        }
        throw error(String(cString: PQerrorMessage(opened)), of: opened)
    }

    /// The address of a connection that could not be opened, as the cause of its error. It names the host, which may be a path.
    struct Unreached: Error, CustomDebugStringConvertible {
        let debugDescription: String
    }

    /// Returns the error for a connection that could not be opened, with the address as far as it is public.
    private func error(_ text: String, of connection: OpaquePointer) -> StorageError {
        let error = Self.error(text), cause = Unreached(debugDescription: "the server \(publicText)")
        if isUnclear {
            return StorageError(
                error.code == .connectionLost ? .invalidConfiguration : error.code,
                "\(error.message); the address in the URL is unclear: a password with @, /, : or ? must be percent-encoded", cause: cause)
        }
        let database = PQdb(connection).map { String(cString: $0) } ?? ""
        if error.code == .notFound, !database.isEmpty {
            return StorageError(
                .notFound, "the server has no database named \"\(database.excerpt())\"; create it, or correct the URL",
                cause: cause)
        }
        let host = named["host"] ?? named["hostaddr"] ?? ""
        guard error.code == .connectionLost, !host.isEmpty, !host.contains("/") else {
            return StorageError(error.code, error.message, cause: cause)
        }
        let port = PQport(connection).map { ":\(String(cString: $0))" } ?? ""
        return StorageError(.connectionLost, "\(host.excerpt())\(port): \(error.message)", cause: cause)
    }

    /// Returns the error for a failed connection. libpq reports no code for it, only an English message. The message contains hosts and
    /// users, so it is not part of the error.
    static func error(_ text: String) -> StorageError {
        func says(_ parts: String...) -> Bool { parts.contains(where: text.contains) }
        if says("too many connections", "too many clients", "connection slots are reserved") {
            return StorageError(.busy, "the server has too many connections; try again, or raise its max_connections")
        }
        if says("password authentication failed") {
            return StorageError(.authenticationFailed, "the server rejected the user or the password")
        }
        if says("pg_hba.conf", "authentication failed", "role \"") {
            return StorageError(.authenticationFailed, "the server rejected the user; check the user and pg_hba.conf")
        }
        if says("database \""), says("does not exist") {
            return StorageError(.notFound, "the server has no database of this name; check the URL, or create it")
        }
        if says("invalid connection option", "invalid sslmode", "invalid port", "invalid integer value") {
            return StorageError(.invalidConfiguration, "an option of the PostgreSQL URL has a value that libpq does not accept")
        }
        if says("does not support SSL") {
            return StorageError(
                .authenticationFailed,
                "the server does not support TLS, which a network address requires; enable it on the server, or set a weaker sslmode in "
                    + "the URL")
        }
        if says("SSL error", "certificate", "SSL connection is required"), !says("unexpected eof", "unexpectedly") {
            return StorageError(
                .authenticationFailed,
                "the TLS certificate of the server could not be verified; set its certificate authority as sslrootcert, or a weaker "
                    + "sslmode, in the URL"
            )
        }
        if says("is starting up", "is shutting down", "in recovery mode") {
            return StorageError(.connectionLost, "the server is starting or shutting down; try again")
        }
        if says("parameter \"", "invalid command-line argument") {
            return StorageError(
                .invalidConfiguration, "the server rejects a setting of the connection; check PGOPTIONS and the options in the URL")
        }
        if says("FATAL:") {
            return StorageError(.connectionLost, "the server refused the connection; its log states the reason")
        }
        if says("could not translate host name") {
            return StorageError(.connectionLost, "no server has this host name; check the name and the name service")
        }
        if says("Connection refused") {
            return StorageError(.connectionLost, "nothing accepts connections on this port; check that the server is running, and the port")
        }
        if says("No such file or directory") {
            return StorageError(.connectionLost, "there is no socket of a server; check that it is running, and the host and the port")
        }
        if says("timeout expired") {
            return StorageError(.connectionLost, "the server did not answer within the connect_timeout (10 seconds by default)")
        }
        if says("Network is unreachable", "No route to host") {
            return StorageError(.connectionLost, "there is no route to the server; check the address and the network")
        }
        return StorageError(.connectionLost, "the server does not answer; check that it is running and that the address is correct")
    }
}
#endif

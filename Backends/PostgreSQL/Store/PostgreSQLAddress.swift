#if PostgreSQL
internal import CLibPQ
internal import Foundation
internal import PolystoreStorage

/// Where a server is and how it is connected to: what the program says, and safe values for what it leaves open.
struct PostgreSQLAddress {
    private let conninfo: String
    /// What is named in the text, by libpq's names.
    private let named: [String: String]

    /// Reads a connection string, a URI or the name of a database.
    init(_ conninfo: String) throws(StorageError) {
        self.conninfo = conninfo
        guard conninfo.contains("=") || conninfo.contains("://") else {
            named = [:]
            return
        }
        guard let options = PQconninfoParse(conninfo, nil) else {
            throw StorageError(.invalidConfiguration, "the PostgreSQL URL is malformed or has an option that libpq does not know")
        }
        defer { PQconninfoFree(options) }
        var named: [String: String] = [:], option = options
        while let keyword = option.pointee.keyword {
            if let value = option.pointee.val { named[String(cString: keyword)] = String(cString: value) }
            option += 1
        }
        self.named = named
    }

    /// What the text or else libpq's environment says of an option.
    private func option(_ name: String, _ variable: String) -> String? { named[name] ?? ProcessInfo.processInfo.environment[variable] }

    /// Whether nobody else is on the way to the server: it is reached by a socket file or by the machine's own address.
    var isLocal: Bool {
        let hosts: String?
        if let address = option("hostaddr", "PGHOSTADDR") {
            // libpq connects to the address, whatever the name is.
            hosts = address
        } else if let named = named["host"] {
            hosts = named
        } else if option("service", "PGSERVICE") != nil {
            // What a service names comes before the variables, and is not known here.
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

    /// Whether an address, not the name of a machine, begins with 127.
    private static func isLoopback(_ host: String) -> Bool {
        var address = in_addr()
        return inet_pton(AF_INET, host, &address) == 1 && UInt32(bigEndian: address.s_addr) >> 24 == 127
    }

    /// How the server has to prove who it is, where the program does not say: libpq's own value takes any server, and plain text.
    var security: [(String, String)] {
        if isLocal || option("sslmode", "PGSSLMODE") != nil { return [] }
        let authorities = NSHomeDirectory() + "/.postgresql/root.crt"
        if PQlibVersion() < 160_000 || option("sslrootcert", "PGSSLROOTCERT") != nil
            || FileManager.default.fileExists(atPath: authorities)
        {
            return [("sslmode", "verify-full")]
        }
        return [("sslmode", "verify-full"), ("sslrootcert", "system")]
    }

    /// Connects.
    func connect() throws(StorageError) -> OpaquePointer {
        // Later options win: those of the URL over ours, and ours over the URL where the store depends on it.
        // A network that is gone is noticed within half a minute; the system's own times are hours.
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
        guard let opened = PQconnectdbParams(keys, values, 1) else {
            throw StorageError(.limitExceeded, "libpq ran out of memory")
        }
        if PQstatus(opened) == CONNECTION_OK { return opened }
        defer { PQfinish(opened) }
        if PQconnectionNeedsPassword(opened) == 1 {
            throw StorageError(.authenticationFailed, "the server asks for a password; give one by PGPASSFILE or PGPASSWORD")
        }
        throw Self.error(String(cString: PQerrorMessage(opened)))
    }

    /// libpq gives no code for a failed connection: its English sentence is all there is. The sentence itself names hosts and users, so
    /// it is not passed on.
    static func error(_ text: String) -> StorageError {
        func says(_ parts: String...) -> Bool { parts.contains(where: text.contains) }
        if says("too many connections", "too many clients", "connection slots are reserved") {
            return StorageError(.busy, "the server takes no more connections; try again")
        }
        if says("password authentication failed") {
            return StorageError(.authenticationFailed, "the server refused the user or the password")
        }
        if says("pg_hba.conf", "authentication failed", "role \"") {
            return StorageError(.authenticationFailed, "the server refused the user")
        }
        if says("database \""), says("does not exist") {
            return StorageError(.notFound, "the server has no database of this name")
        }
        if says("invalid connection option", "invalid sslmode", "invalid port", "invalid integer value") {
            return StorageError(.invalidConfiguration, "an option of the PostgreSQL URL has a value that libpq does not take")
        }
        if says("does not support SSL") {
            return StorageError(
                .authenticationFailed,
                "the server offers no TLS, which an address on the network needs; turn it on there, or name a weaker sslmode in the URL")
        }
        if says("SSL error", "certificate", "SSL connection is required"), !says("unexpected eof", "unexpectedly") {
            return StorageError(
                .authenticationFailed,
                "the server did not prove by TLS that it is the one that was asked for; name the authority of its certificate by sslrootcert, or a weaker sslmode, in the URL"
            )
        }
        return StorageError(.connectionLost, "the server does not answer; is it running, and is the address right?")
    }
}
#endif

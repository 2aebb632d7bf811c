import Foundation
import PolystoreStorage
import Testing

@testable import PolystorePostgreSQL

@Suite struct PostgreSQLErrorTests {
    private func openingError(_ url: String) throws -> StorageError? {
        do throws(StorageError) {
            _ = try PostgreSQLStore(url: StoreURL(url)).open(OpenRequest(schema: nil))
            return nil
        } catch {
            return error
        }
    }

    @Test func aServerThatIsDownIsALostConnection() throws {
        let error = try openingError("postgresql://ann:secret@/shop?host=/nowhere&port=1")
        #expect(error?.code == .connectionLost)
        #expect(error?.description.contains("secret") == false)
        #expect(error?.description.contains("nowhere") == false)
    }

    @Test func anOptionThatLibpqDoesNotKnowIsRefused() throws {
        #expect(try openingError("postgresql:///shop?colour=red")?.code == .invalidConfiguration)
    }

    @Test(.enabled(if: TestServer.url != nil)) func aMissingDatabaseIsNotFound() throws {
        let url = try TestServer.url(database: "no_such_database")
        #expect(try openingError(url)?.code == .notFound)
    }

    /// The server of `.ci/run` asks this one role for a password.
    @Test(.enabled(if: TestServer.url != nil)) func aWrongPasswordIsRefusedWithoutARepetitionOfIt() throws {
        let url = try #require(TestServer.url), name = "polystore_password"
        let admin = try PostgreSQLConnection(conninfo: url, schema: "public")
        try? admin.execute("DROP ROLE \(name)")
        try admin.execute("CREATE ROLE \(name) LOGIN PASSWORD 'right'")
        defer { try? admin.execute("DROP ROLE \(name)") }
        let other = url.replacingOccurrences(of: "user=postgres", with: "user=\(name)")
        let missing = try openingError(other)
        #expect(missing?.code == .authenticationFailed)
        #expect(missing?.message.contains("asks for a password") == true)
        let wrong = try openingError(other + "&password=wr0ng")
        #expect(wrong?.code == .authenticationFailed)
        #expect(wrong?.description.contains("wr0ng") == false)
        #expect(try openingError(other + "&password=right&x-schema=no_such_schema")?.code == .notFound)
    }

    @Test(.enabled(if: TestServer.url != nil)) func anEmptySchemaIsNotFound() throws {
        let url = try #require(TestServer.url) + "&x-schema=no_such_schema"
        #expect(try openingError(url)?.code == .notFound)
    }

    @Test(.enabled(if: TestServer.url != nil)) func aServerWithoutFreeConnectionsIsBusy() throws {
        let url = try #require(TestServer.url), name = "polystore_\(UUID().uuidString.prefix(8).lowercased())"
        let admin = try PostgreSQLConnection(conninfo: url, schema: "public")
        try admin.execute("CREATE ROLE \(name) LOGIN CONNECTION LIMIT 0")
        defer { try? admin.execute("DROP ROLE \(name)") }
        let error = try openingError(url.replacingOccurrences(of: "user=postgres", with: "user=\(name)"))
        #expect(error?.code == .busy)
        #expect(error?.isRetryable == true)
    }

    @Test func failuresOfConnectingHaveCodesOfTheirOwn() {
        func code(_ text: String) -> StorageError.Code { PostgreSQLAddress.error(text).code }
        #expect(code("FATAL:  too many connections for role \"ann\"") == .busy)
        #expect(code("FATAL:  too many connections for database \"shop\"") == .busy)
        #expect(code("FATAL:  sorry, too many clients already") == .busy)
        #expect(code("FATAL:  no pg_hba.conf entry for host \"1.2.3.4\", user \"ann\", SSL encryption") == .authenticationFailed)
        #expect(code("SSL error: certificate verify failed") == .authenticationFailed)
        #expect(code("server certificate for \"a\" does not match host name \"b\"") == .authenticationFailed)
        #expect(code("server does not support SSL, but SSL was required") == .authenticationFailed)
        #expect(code("SSL SYSCALL error: EOF detected") == .connectionLost)
        #expect(code("FATAL:  the database system is starting up") == .connectionLost)
        #expect(code("FATAL:  database \"shop\" does not exist") == .notFound)
        #expect(code("invalid sslmode value: \"maybe\"") == .invalidConfiguration)
        #expect(code("FATAL:  unrecognized configuration parameter \"work_men\"") == .invalidConfiguration)
    }

    /// A setting that only the configuration of the server can have, and one that the server does not know.
    @Test(.enabled(if: TestServer.url != nil), arguments: ["log_line_prefix%3Da", "work_men%3D1"])
    func aSettingThatTheServerRejectsIsNamedAsSuch(setting: String) throws {
        let url = try #require(TestServer.url), error = try openingError(url + "&options=-c%20" + setting)
        #expect(error?.code == .invalidConfiguration)
        #expect(error?.message.contains("setting of the connection") == true, "\(error as Any)")
    }

    /// libpq's own value would take any server, and plain text.
    @Test func aServerOnTheNetworkMustAuthenticateItself() throws {
        func mode(_ url: String) throws -> String? { try PostgreSQLAddress(url).security.first { $0.0 == "sslmode" }?.1 }
        for url in [
            "postgresql://ann@db.example.com/shop", "host=10.0.0.7 dbname=shop", "postgresql://localhost,db.example.com/shop",
            "service=shop",
        ] {
            #expect(try mode(url) == "verify-full")
        }
        for url in [
            "postgresql:///shop", "shop", "postgresql:///shop?host=/tmp", "postgresql://localhost/shop", "host=127.0.0.1", "host=::1",
            "postgresql://ann@db.example.com/shop?sslmode=require", "host=db.example.com sslmode=disable",
        ] {
            #expect(try mode(url) == nil)
        }
    }

    @Test func aServerOnTheNetworkWithoutTLSIsRefusedAndNotRetried() throws {
        let server = try PlainServer()
        defer { server.close() }
        let error = try openingError("postgresql://0.0.0.0:\(server.port)/shop")
        #expect(error?.code == .authenticationFailed)
        #expect(error?.isRetryable == false)
    }
}

/// A server that answers every request for TLS with no.
private final class PlainServer: Sendable {
    let port: UInt16
    private let listener: Int32

    init() throws {
        #if canImport(Glibc)
        listener = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
        #else
        listener = socket(AF_INET, SOCK_STREAM, 0)
        #endif
        var address = sockaddr_in(), size = socklen_t(MemoryLayout<sockaddr_in>.size)
        address.sin_family = sa_family_t(AF_INET)
        let descriptor = listener
        let isBound = withUnsafeMutablePointer(to: &address) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                bind(descriptor, $0, size) == 0 && listen(descriptor, 8) == 0 && getsockname(descriptor, $0, &size) == 0
            }
        }
        if !isBound { throw POSIXError(.EADDRINUSE) }
        port = UInt16(bigEndian: address.sin_port)
        Thread.detachNewThread {
            while case let client = accept(descriptor, nil, nil), client >= 0 {
                var request = [UInt8](repeating: 0, count: 8)
                if read(client, &request, 8) == 8 { _ = write(client, "N", 1) }
                Foundation.close(client)
            }
        }
    }

    func close() { shutdown(listener, Int32(SHUT_RDWR)) }
}

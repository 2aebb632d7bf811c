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

    @Test func noPasswordIsPrintedWithAStore() throws {
        let store = PostgreSQLStore(conninfo: "host=db password=secret", schema: "shop")
        var dumped = ""
        dump(store, to: &dumped)
        for text in [dumped, "\(store)", String(reflecting: store)] {
            #expect(text.contains("shop") && !text.contains("secret"), "\(text)")
        }
    }

    @Test func anOptionThatLibpqDoesNotKnowIsRefused() throws {
        #expect(try openingError("postgresql:///shop?colour=red")?.code == .invalidConfiguration)
        let near = try #require(try openingError("postgresql://ann:secret@db/shop?application_name=a&tlsmode=require"))
        #expect(near.code == .invalidConfiguration && near.message.contains("did you mean \"sslmode\"?"), "\(near)")
        // A password may contain a question mark.
        let unclear = try #require(try openingError("postgresql://ann:p?sslmod=x@db/shop?colour=red"))
        #expect(!unclear.description.contains("sslmod"), "\(unclear)")
    }

    @Test(
        arguments: [
            ("postgresql://ann:secret@db/shop?x-schema=mine", "x-schema", "schema:"),
            ("postgresql:///shop?sslmode=require&x-catalog=foreign", "x-catalog", "catalog:"),
            ("postgres:///shop?x-mode=ro", "x-mode", "readOnly:"),
            ("host=db x-read-timeout=3 dbname=shop", "x-read-timeout", "readTimeout:"),
        ])
    func anOptionOfAStoreURLIsNamedWithTheRightWay(_ conninfo: String, _ option: String, _ parameter: String) throws {
        for open in [{ _ = try $0.open(OpenRequest(schema: nil)) }, { try $0.probe() }] as [(PostgreSQLStore) throws -> Void] {
            let error = #expect(throws: StorageError.self) { try open(PostgreSQLStore(conninfo: conninfo)) }
            #expect(error?.code == .invalidConfiguration)
            #expect(error?.message.hasPrefix("\(option) is an option of a store URL") == true, "\(error as Any)")
            #expect(error?.message.contains("StoreURL") == true && error?.message.contains("StoreCatalog") == true)
            #expect(error?.message.contains("pass \(parameter) to") == true && error?.message.contains("secret") == false)
        }
        // The words of a password are no options.
        let plain = #expect(throws: StorageError.self) {
            try PostgreSQLStore(conninfo: "postgresql://ann:x-schema@db/shop?colour=red").probe()
        }
        #expect(plain?.message.contains("x-schema") == false)
    }

    @Test(.enabled(if: TestServer.url != nil)) func aMissingDatabaseIsNotFoundAndNamed() throws {
        let url = try TestServer.url(database: "no_such_database"), error = try openingError(url)
        #expect(error?.code == .notFound)
        #expect(error?.message.contains("\"no_such_database\"; create it") == true, "\(error as Any)")
    }

    @Test func theReasonWhyAServerIsNotReachedIsNamed() throws {
        let closed = try PlainServer()
        closed.close()
        let refused = try #require(try openingError("postgresql://ann:secret@127.0.0.1:\(closed.port)/shop"))
        #expect(refused.code == .connectionLost && refused.isRetryable)
        #expect(refused.message.contains("127.0.0.1:\(closed.port): nothing accepts connections"), "\(refused)")
        #expect(refused.debugDescription.contains("database \"shop\"") && !refused.debugDescription.contains("secret"))
        let unknown = try #require(try openingError("postgresql://ann:secret@no-such-host.invalid:5432/shop?sslmode=disable"))
        #expect(unknown.message.contains("no-such-host.invalid:5432: no server has this host name"), "\(unknown)")
        let socket = try #require(try openingError("postgresql:///shop?host=/nowhere&port=1"))
        #expect(socket.message.contains("no socket of a server") && !socket.message.contains("nowhere"), "\(socket)")
        #expect(PostgreSQLAddress.error("connection to server failed: timeout expired").message.contains("connect_timeout"))
    }

    @Test(arguments: ["postgresql://ann:p@xyzzy/w:rd@127.0.0.1:1/shop", "postgresql://ann:p@xyzzyw:rd@127.0.0.1:1/shop"])
    func aPasswordThatIsNotEncodedIsNeverShown(url: String) throws {
        let error = try #require(try openingError(url))
        #expect(error.code == .invalidConfiguration)
        #expect(error.message.contains("must be percent-encoded"))
        #expect(!error.debugDescription.contains("w:rd") && !error.debugDescription.contains("xyzzy"), "\(error.debugDescription)")
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

/// A column that was changed by hand refuses what the model allows.
@Suite(.enabled(if: TestServer.url != nil, "needs a PostgreSQL server; .ci/run starts one")) struct PostgreSQLRefusalTests {
    @Test(arguments: [1, 100]) func aValueThatAColumnDoesNotAcceptNamesItsProperty(count: Int) throws {
        let test = try TestStore()
        defer { test.erase() }
        try TestStore.admin().execute("ALTER TABLE \"\(test.name)\".\"Note\" ALTER COLUMN \"text\" TYPE varchar(3)")
        let writer = try test.store.beginWrite(WriteOptions())
        defer { writer.end() }
        let keys = Array(try writer.reserveKeys(0, count: count))
        let error = #expect(throws: StorageError.self) {
            try writer.apply(ChangeSet(entities: [EntityChanges(entity: 0, inserts: test.rows(keys, "secret"))]))
            _ = try writer.commit(CommitRecord())
        }
        #expect(error?.code == .valueNotStorable)
        #expect(error?.details.entity == "Note" && error?.details.property == "text", "\(error as Any)")
        #expect(error?.message.contains("Note.text: the column on the server does not accept the value (character varying(3))") == true)
        #expect(error?.debugDescription.contains("secret") == false)
    }

    @Test func theTypeIsReadWithoutTheValue() {
        func type(_ state: String, _ message: String, detail: String = "") -> String? {
            PostgreSQLRefusal(state: state, message: message, detail: detail, context: "").type
        }
        #expect(type("22P02", "invalid input value for enum mood: \"a: b\"") == "mood")
        #expect(type("22P02", "invalid input syntax for type json", detail: "Token \"x\" is invalid.") == "json")
        #expect(type("22P02", "invalid input syntax for type uuid: \"type x\"") == "uuid")
        #expect(type("22P02", "malformed array literal: \"{type x\"") == "array")
        #expect(type("22001", "value too long for type character varying(3)") == "character varying(3)")
        #expect(type("22003", "integer out of range") == "integer")
        #expect(type("22003", "numeric field overflow", detail: "A field with precision 4, scale 2 must round to …") == "numeric(4,2)")
        #expect(type("22003", "value \"9\" is out of range for type smallint") == "smallint")
        #expect(type("23505", "invalid input syntax for type json") == nil)
    }
}

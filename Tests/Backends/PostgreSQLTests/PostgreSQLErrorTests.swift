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
        let url = try #require(TestServer.url).replacingOccurrences(of: "///postgres?", with: "///no_such_database?")
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
}

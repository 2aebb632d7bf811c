import Foundation
import PolystorePostgreSQL
import PolystoreStorage
import Testing

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

    @Test(.enabled(if: TestServer.url != nil)) func anEmptySchemaIsNotFound() throws {
        let url = try #require(TestServer.url) + "&x-schema=no_such_schema"
        #expect(try openingError(url)?.code == .notFound)
    }
}

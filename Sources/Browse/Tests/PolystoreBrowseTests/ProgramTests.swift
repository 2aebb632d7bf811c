import Foundation
import PolystoreSQLite
import PolystoreStorage
import Testing

/// The program `polystore-browse`.
@Suite struct ProgramTests {
    private final class Running {
        let process = Process()
        let output = Pipe(), errors = Pipe()

        init(_ arguments: [String]) throws {
            // The tests are beside the program.
            let tests = URL(fileURLWithPath: "/proc/self/exe").resolvingSymlinksInPath()
            process.executableURL = tests.deletingLastPathComponent().appendingPathComponent("polystore-browse")
            process.arguments = arguments
            process.standardOutput = output
            process.standardError = errors
            try process.run()
        }

        func end() -> (code: Int32, errors: String) {
            process.waitUntilExit()
            return (process.terminationStatus, String(decoding: errors.fileHandleForReading.readDataToEndOfFile(), as: UTF8.self))
        }
    }

    @Test func theProgramShowsAStoreWithoutChangingItAndEndsWithAnInterrupt() async throws {
        let path = FileManager.default.temporaryDirectory.appendingPathComponent("\(UUID().uuidString).db").path
        defer { for end in ["", "-wal", "-shm"] { try? FileManager.default.removeItem(atPath: path + end) } }
        let schema = try Schema(entities: [Entity("Note", attributes: [Attribute("text", .string)])])
        let store = try OpenStore(opening: SQLiteStore(path: path), OpenRequest(schema: schema))
        try store.close()
        let before = try Data(contentsOf: URL(fileURLWithPath: path))

        let running = try Running(["sqlite:\(path)"])
        let line = String(decoding: running.output.fileHandleForReading.availableData, as: UTF8.self)
        let address = try #require(URLComponents(string: line.trimmingCharacters(in: .newlines))),
            client = Client(port: try #require(address.port))
        #expect(address.host == "127.0.0.1")
        let cookie = try await client.get("/?\(address.query ?? "")").cookie
        #expect(try await client.get("/", cookie: cookie).body.contains("Note"))
        #expect(try await client.get("/history", cookie: cookie).status == 200)
        running.process.interrupt()
        let (code, errors) = running.end()
        #expect(code == 0 && errors.isEmpty, "\(errors)")
        #expect(try Data(contentsOf: URL(fileURLWithPath: path)) == before)
    }

    @Test func aStoreThatDoesNotExistIsASentence() throws {
        let (code, errors) = try Running(["sqlite:/nonexistent/shop.db"]).end()
        #expect(code == 2 && errors.hasPrefix("polystore-browse: ") && errors.split(separator: "\n").count == 1, "\(errors)")
        #expect(try Running(["sqlite:x.db", "--port", "70000"]).end().code == 64)
    }
}

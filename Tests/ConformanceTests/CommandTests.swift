import Foundation
import PolystoreConformance
import PolystoreSQLite
import PolystoreStorage
import Testing

/// What the runner finds by a pattern, and a place where no store can be.
@Suite struct CommandTests {
    @Test func aPatternSelectsCases() throws {
        #expect(ConformanceRunner(only: "ZZZ*").cases.isEmpty)
        #expect(ConformanceRunner(only: "N001.an-update-alone").cases.map(\.id) == ["N001.an-update-alone"])
        #expect(ConformanceRunner().cases.count == ConformanceSuite.cases.count)
    }

    @Test(arguments: [false, true]) func aFolderIsNoDatabase(isReadOnly: Bool) throws {
        let folder = FileManager.default.temporaryDirectory.appendingPathComponent("polystore-folder-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: folder) }
        let request = OpenRequest(schema: isReadOnly ? nil : .empty, readOnly: isReadOnly), store = SQLiteStore(path: folder.path)
        let error = #expect(throws: StorageError.self) { _ = try store.open(request) }
        #expect(error?.code == .notADatabase)
    }
}

import Foundation
import Testing

/// `polystore browse` runs another program.
@Suite struct BrowseCommandTests {
    private func browse(_ arguments: [String], path: String) throws -> (code: Int32, output: String, error: String) {
        let process = Program.process(["browse"] + arguments), output = Pipe(), error = Pipe()
        process.environment = ["PATH": path]
        process.standardOutput = output
        process.standardError = error
        try process.run()
        let text = String(decoding: output.fileHandleForReading.readDataToEndOfFile(), as: UTF8.self)
        let trouble = String(decoding: error.fileHandleForReading.readDataToEndOfFile(), as: UTF8.self)
        process.waitUntilExit()
        return (process.terminationStatus, text, trouble)
    }

    @Test func theProgramInPathReceivesTheArguments() throws {
        let program = try Program()
        let path = try program.file("polystore-browse", "#!/bin/sh\nprintf '<%s>' \"$@\"\nexit 7\n")
        try FileManager.default.setAttributes([.posixPermissions: 0o755], ofItemAtPath: path)
        let run = try browse(["sqlite:shop.db", "--port", "4711", "--open"], path: "/nonexistent:\(program.folder.path)")
        #expect(run.code == 7 && run.output == "<--port><4711><--open><--><sqlite:shop.db>", "\(run)")
    }

    @Test func withoutTheProgramItIsSaidHowToGetIt() throws {
        let run = try browse(["sqlite:shop.db"], path: "/nonexistent")
        #expect(run.code == 2 && run.output.isEmpty)
        #expect(run.error.contains("polystore-browse is not installed") && run.error.contains("folder Sources/Browse"), "\(run.error)")
        #expect(try browse(["sqlite:shop.db", "--port", "-1"], path: "/nonexistent").code == 64)
    }
}

import Foundation
import PolystoreSchema
import PolystoreStorage
import Testing

@testable import PolystoreConformance

/// Printed programs are what a difference is reproduced with: they compile, and print everything that is compared.
@Suite struct PrintedProgramTests {
    /// Returns an unshrunk program as Swift source code.
    private func text(seed: UInt64, over target: String) throws -> String {
        let program = try ProgramGenerator.program(seed: seed, operations: 60, migrates: seed % 2 == 0)
        return ProgramPrinter.text(
            program, ProgramDifference(target: target, step: program.steps[0], expected: "one", found: "another"))
    }

    @Test(arguments: [1, 2, 3, 4, 5, 6] as [UInt64]) func printedProgramsCompile(seed: UInt64) throws {
        #expect(try compilerErrors(text(seed: seed, over: seed % 2 == 0 ? "sqlite and lmdb" : "memory and memory")) == [])
    }

    @Test func readsPagesAndObserversPrintWhatTheySee() throws {
        let schema = try Schema(entities: [Entity("A", attributes: [Attribute("n", .int64, isOptional: true)])])
        let request = ProgramRequest(fetch: ObjectRequest("A", orderBy: [OrderTerm("n")]))
        let steps = [
            ProgramStep(.transaction(author: "", fails: false), [ProgramStep(.create(1, entity: "A", home: 0)), ProgramStep(.read(1))]),
            ProgramStep(.watch(request, section: "n")), ProgramStep(.watch(request, section: nil)), ProgramStep(.follow(1)),
            ProgramStep(.publishCount(request)), ProgramStep(.pages(request, size: 2)),
            ProgramStep(.transaction(author: "", fails: false), [ProgramStep(.read(1)), ProgramStep(.read(1))]), ProgramStep(.reopen),
        ]
        let program = GraphProgram(seed: 1, schema: schema, steps: steps)
        let text = ProgramPrinter.text(program, ProgramDifference(target: "sqlite", step: steps[0], expected: "one", found: "another"))
        #expect(text.components(separatedBy: "show { try look(object(1, transaction)) }").count == 4)
        #expect(text.components(separatedBy: "watches.append").count == 5)
        #expect(text.components(separatedBy: "try report(stack, view)").count == steps.count + 1)
        #expect(text.contains("show { try pages { try stack.fetchPage("))
        #expect(try compilerErrors(text) == [])
    }

    /// What the programs use of the catalog, whose module needs the headers of all engines.
    private static let catalog = """

        struct StoreCatalog {
            static let standard = StoreCatalog()

            func store(at url: StoreURL, configuration: String?) throws(StorageError) -> any StorageInterface {
                throw StorageError(.unsupported, "nothing is opened")
            }
        }

        """

    /// Returns the errors of the compiler about a printed program, with the modules of this build.
    private func compilerErrors(_ program: String) throws -> [String] {
        let text = program.replacingOccurrences(of: "import PolystoreCatalog\n", with: "") + Self.catalog
        let products = URL(fileURLWithPath: CommandLine.arguments[0]).deletingLastPathComponent()
        let folder = FileManager.default.temporaryDirectory.appendingPathComponent("polystore-printed-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: folder) }
        let file = folder.appendingPathComponent("Try.swift")
        try text.write(to: file, atomically: true, encoding: .utf8)
        let process = Process(), pipe = Pipe()
        process.executableURL = URL(fileURLWithPath: "/usr/bin/env")
        process.arguments =
            ["swiftc", "-typecheck", "-swift-version", "6", "-diagnostic-style", "llvm", "-parse-as-library", "-module-name", "Try"]
            + ["-package-name", "try", "-I", "\(products.path)/Modules"] + [file.path]
        process.standardInput = FileHandle.nullDevice
        process.standardError = pipe
        process.standardOutput = FileHandle.nullDevice
        try process.run()
        let output = String(decoding: pipe.fileHandleForReading.readDataToEndOfFile(), as: UTF8.self)
        process.waitUntilExit()
        let errors = output.split(separator: "\n").filter { $0.contains(": error: ") }.map(String.init)
        return process.terminationStatus == 0 ? [] : errors + ["exit code \(process.terminationStatus)"]
    }
}

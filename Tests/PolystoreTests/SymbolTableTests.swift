#if os(Linux)
import Foundation
import Testing

@testable import PolystoreObjects

/// The symbols of the running program, and of files that are damaged.
@Suite struct SymbolTableTests {
    private static let program = URL(fileURLWithPath: "/proc/self/exe")

    private func symbols(_ bytes: some ContiguousBytes) -> [String] {
        bytes.withUnsafeBytes { SymbolTable($0).symbols(ofCodeAt: 0) }
    }

    @Test func onlyTheSymbolsOfPropertiesAreNames() {
        #expect(KeyPathNames.property(ofAccessor: "$s3Try6PersonC5isOldSbvpACTK") == "isOld")
        #expect(KeyPathNames.property(ofAccessor: "$s3Try6PersonC5isOldSbvg") == nil)
        #expect(KeyPathNames.property(ofAccessor: "$s3Try6PersonCys5Int64VSicipACTK") == nil)
    }

    /// Undefined symbols, such as those of libraries, are at the address 0.
    @Test func aProgramHasSymbols() throws {
        #expect(try symbols(Data(contentsOf: Self.program, options: .alwaysMapped)).count > 10)
    }

    /// The list of a process's mappings is longer than a page, and the libraries come last.
    @Test func theFilesOfTheProgramAndOfLibrariesAreFound() throws {
        let lines = try #require(try FileHandle(forReadingFrom: URL(fileURLWithPath: "/proc/self/maps")).readToEnd())
        let libraries = String(decoding: lines, as: UTF8.self).split(separator: "\n").filter { $0.contains(" r-xp ") && $0.contains(" /") }
        #expect(libraries.count > 5)
        for line in libraries {
            let start = try #require(line.split(separator: "-").first.flatMap { UInt($0, radix: 16) })
            let path = try #require(line.split(separator: " ").last)
            #expect(KeyPathNames.file(at: start)?.path == String(path))
        }
        #expect(KeyPathNames.file(at: 0) == nil)
    }

    @Test func damagedFilesHaveFewerSymbolsOrNone() throws {
        // The header names a table of sections that lies beyond this part.
        let start = try FileHandle(forReadingFrom: Self.program).read(upToCount: 4096) ?? Data()
        for length in 0..<start.count { #expect(symbols(start.prefix(length)).isEmpty) }
        #expect(symbols(Data("a text".utf8)).isEmpty)
        var random = SystemRandomNumberGenerator()
        for _ in 0..<2000 {
            // A header whose tables are somewhere in a small file of arbitrary bytes.
            var file = (0..<512).map { _ in UInt8.random(in: 0...3, using: &random) }
            file.replaceSubrange(0..<6, with: [0x7F, 0x45, 0x4C, 0x46, 2, 1])
            file.replaceSubrange(
                0x28..<0x30,
                with: [UInt8.random(in: 0...255, using: &random), UInt8.random(in: 0...1, using: &random)] + [UInt8](repeating: 0, count: 6)
            )
            // One segment, at the end of the file: its type and position, an arbitrary address and length.
            file.replaceSubrange(0x20..<0x28, with: [0xC0, 1, 0, 0, 0, 0, 0, 0])
            file.replaceSubrange(0x36..<0x3A, with: [56, 0, 1, 0])
            file.replaceSubrange(0x1C0..<0x1D0, with: [1] + [UInt8](repeating: 0, count: 15))
            file[0x3A] = 64
            file[0x3B] = 0
            _ = symbols(Data(file))
        }
    }
}
#endif

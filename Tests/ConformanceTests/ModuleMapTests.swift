import Foundation
import Testing

/// The table of modules in `.github/CONTRIBUTING.md` is that of `Package.swift`.
@Suite struct ModuleMapTests {
    /// A module: where it lies, and the modules of this package that it may import.
    private struct Module: Equatable {
        let folder: String
        let imports: Set<String>
    }

    @Test func theTableOfModulesIsThatOfTheManifest() throws {
        let manifest = try Self.manifest(), table = try Self.table()
        #expect(manifest.count >= 20)
        #expect(Set(table.keys).symmetricDifference(manifest.keys).sorted() == [])
        for (name, module) in manifest { #expect(table[name] == module, "\(name)") }
    }

    /// The targets of the manifest outside of `Tests`, by their names.
    private static func manifest() throws -> [String: Module] {
        let text = try Checkout.lines("Package.swift").map { $0.replacing(#/^\s*//.*/#, with: "") }.joined(separator: "\n")
        let start = try #require(text.range(of: "\n    targets: ["))
        // Products of other packages have parentheses and brackets within.
        let targets = text[start.upperBound...].replacing(#/\.product\((?:[^()]|\([^()]*\))*\)/#, with: "")
        var modules: [String: Module] = [:]
        for match in targets.matches(of: #/(?:module|library)\(\s*"([\w-]+)",\s*"([^"]+)"(?:,\s*\[([^\]]*)\])?/#) {
            modules[String(match.1)] = Module(folder: String(match.2), imports: names(match.3 ?? ""))
        }
        let spelledOut = #/\.(?:macro|target|executableTarget)\(\s*name:\s*"([\w-]+)",\s*dependencies:\s*\[([^\]]*)\],\s*path:\s*"([^"]+)"/#
        for match in targets.matches(of: spelledOut) {
            modules[String(match.1)] = Module(folder: String(match.3), imports: names(match.2))
        }
        return modules.filter { !$0.value.folder.hasPrefix("Tests/") }
    }

    /// The names of a list of dependencies; `only("CLMDB", "LMDB")` is the first of its two.
    private static func names(_ list: Substring) -> Set<String> {
        let plain = list.replacing(#/only\("([\w-]+)",\s*"\w+"\)/#) { "\"\($0.1)\"" }
        return Set(plain.matches(of: #/"([\w-]+)"/#).map { String($0.1) })
    }

    /// The rows of the table, by the names of the modules.
    private static func table() throws -> [String: Module] {
        let lines = try Checkout.lines(".github/CONTRIBUTING.md")
        let head = try #require(lines.firstIndex { $0.hasPrefix("| module | folder |") })
        var modules: [String: Module] = [:]
        for line in lines[(head + 2)...].prefix(while: { $0.hasPrefix("|") }) {
            let cells = line.split(separator: "|", omittingEmptySubsequences: false)
            try #require(cells.count == 6, "\(line)")
            let name = try #require(quoted(cells[1]).first, "\(line)"), folder = try #require(quoted(cells[2]).first, "\(line)")
            modules[name] = Module(folder: folder, imports: Set(quoted(cells[4])))
        }
        return modules
    }

    /// What stands between backticks.
    private static func quoted(_ cell: Substring) -> [String] { cell.matches(of: #/`([^`]+)`/#).map { String($0.1) } }
}

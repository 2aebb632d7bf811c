import Foundation
import Testing

/// The table of modules in `.github/CONTRIBUTING.md` is that of `Package.swift`, and the folders of a module depend in one direction.
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

    @Test func theFilesOfTheGuideForContributorsExist() throws {
        let text = try Checkout.lines(".github/CONTRIBUTING.md").joined(separator: "\n")
        let paths = text.matches(of: #/`((?:Sources|Backends|Conformance|Tests|\.ci|\.github)\/[\w.+\/-]+)`/#).map { String($0.1) }
        #expect(paths.count > 50)
        // The file that the worked change of a command makes.
        let made = ["Sources/PolystoreCLI/Commands/CountCommand.swift"]
        for path in Set(paths).subtracting(made) {
            #expect(FileManager.default.fileExists(atPath: Checkout.root.appendingPathComponent(path).path), "\(path)")
        }
    }

    /// `Polystore` exports other modules, and `PolystoreInterfaces` is empty on Linux.
    @Test func theListingsOfPublicDeclarationsAreThoseOfTheLibraries() throws {
        let products = try Checkout.lines("Package.swift").joined().matches(of: #/\.library\(name: "(\w+)"/#).map { String($0.1) }
        #expect(products.count > 15)
        let script = try Checkout.lines(".ci/api").joined(separator: "\n")
        let list = try #require(script.firstMatch(of: #/\nMODULES = \[([^\]]*)\]/#)).1
        let listed = Set(list.matches(of: #/"(\w+)"/#).map { String($0.1) })
        #expect(Set(products).subtracting(listed) == ["Polystore", "PolystoreInterfaces"])
        let files = try FileManager.default.contentsOfDirectory(atPath: Checkout.root.appendingPathComponent(".github/api").path)
        #expect(Set(files) == Set(listed.map { "\($0).txt" }))
    }

    /// Foundation makes a static program 44 MB larger (decision 0086). Modules for programs that do anyway, and of the suite, may import it.
    @Test func modulesOfProgramsWithStoresDoNotImportFoundation() throws {
        let may: Set<String> = [
            "PolystoreFoundation", "PolystoreInterfaces", "PolystoreTransfer", "PolystoreCompatibility", "PolystoreConformance",
            "PolystoreCLI",
            "PolystoreC", "polystore-command", "polystore-conformance",
        ]
        let modules = try Self.manifest()
        #expect(may.isSubset(of: modules.keys))
        var count = 0
        for (name, module) in modules where !may.contains(name) {
            // A module would link what others import, too.
            #expect(module.imports.isDisjoint(with: may.subtracting(["PolystoreFoundation"])), "\(name)")
            let inner = modules.values.map(\.folder).filter { $0.hasPrefix(module.folder + "/") }
            for path in Self.files(module.folder, without: inner) {
                let code = try Checkout.lines(path).filter { !$0.contains("//") }.map { $0.split { " .".contains($0) } }
                #expect(!code.contains { $0.contains("import") && $0.contains("Foundation") }, "\(path)")
                count += 1
            }
        }
        #expect(count > 700)
    }

    @Test func noTwoFoldersOfAModuleDependOnEachOther() throws {
        let modules = try Self.manifest().values.map(\.folder).filter { $0.hasPrefix("Sources/") || $0.hasPrefix("Backends/") }
        var count = 0
        for module in modules {
            let files = try Self.sources(module, without: modules.filter { $0.hasPrefix(module + "/") })
            count += files.count
            var homes: [Substring: String] = [:]
            for file in files { for name in file.types { homes[name] = file.folder } }
            var uses: [String: Set<String>] = [:]
            for file in files { uses[file.folder, default: []].formUnion(file.names.compactMap { homes[$0] }) }
            for (folder, others) in uses {
                // A folder and those inside it are one part.
                for other in others where folder < other && !other.hasPrefix(folder + "/") {
                    #expect(uses[other]?.contains(folder) != true, "\(folder) and \(other)")
                }
            }
        }
        #expect(count > 800)
    }

    /// A file: the types that it declares at the top level, and all names that begin with a capital letter.
    private struct Source {
        let folder: String
        private(set) var types: Set<Substring> = []
        private(set) var names: Set<Substring> = []

        init(_ path: String) throws {
            folder = String(path[..<(path.lastIndex(of: "/") ?? path.endIndex)])
            for line in try Checkout.lines(path) {
                let words = Self.words(line)
                names.formUnion(words.filter { $0.first?.isUppercase == true })
                guard let first = line.first, first.isLetter || first == "@" else { continue }
                let kinds: Set<Substring> = ["class", "struct", "enum", "protocol", "actor"]
                guard let kind = words.firstIndex(where: kinds.contains), kind + 1 < words.count, words[0] != "extension",
                    words[..<kind].allSatisfy({ $0 != "private" && $0 != "fileprivate" })
                else { continue }
                types.insert(words[kind + 1])
            }
        }

        /// The words of a line of code, without comments and texts.
        private static func words(_ line: String) -> [Substring] {
            let code = line.range(of: "//").map { line[..<$0.lowerBound] } ?? line[...]
            let parts = code.split(separator: "\"", omittingEmptySubsequences: false).enumerated().filter { $0.offset % 2 == 0 }
            return parts.flatMap { $0.element.split { !($0.isLetter || $0.isNumber || $0 == "_") } }
        }
    }

    /// The files of a module, without those of modules in folders of its own.
    private static func sources(_ module: String, without inner: [String]) throws -> [Source] {
        try files(module, without: inner).map(Source.init)
    }

    private static func files(_ module: String, without inner: [String]) -> [String] {
        let files = FileManager.default.enumerator(atPath: Checkout.root.appendingPathComponent(module).path)
        let paths = (files?.compactMap { $0 as? String } ?? []).filter { $0.hasSuffix(".swift") }.map { "\(module)/\($0)" }
        return paths.filter { path in !inner.contains { path.hasPrefix($0 + "/") } }
    }

    /// The targets of the manifest outside of `Tests`, by their names.
    private static func manifest() throws -> [String: Module] {
        let text = try Checkout.lines("Package.swift").map { $0.replacing(#/^\s*//.*/#, with: "") }.joined(separator: "\n")
        let start = try #require(text.range(of: "\n    targets: ["))
        // Products of other packages have parentheses and brackets within.
        let targets = text[start.upperBound...].replacing(#/\.product\((?:[^()]|\([^()]*\))*\)/#, with: "")
        var modules: [String: Module] = [:]
        for match in targets.matches(of: #/(?:module|library|headers)\(\s*"([\w-]+)",\s*"([^"]+)"(?:,\s*\[([^\]]*)\])?/#) {
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

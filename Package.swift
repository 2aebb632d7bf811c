// swift-tools-version: 6.2
import CompilerPluginSupport
import PackageDescription

// The module graph, bottom to top. A target may import only what its line names.

let strict: [SwiftSetting] = [
    .treatAllWarnings(as: .error),
    .enableUpcomingFeature("ExistentialAny"),
    .enableUpcomingFeature("InternalImportsByDefault"),
    .enableUpcomingFeature("MemberImportVisibility"),
]

func module(_ name: String, _ path: String, _ dependencies: [Target.Dependency] = [], exclude: [String] = []) -> Target {
    .target(name: name, dependencies: dependencies, path: path, exclude: exclude, swiftSettings: strict)
}

func tests(_ name: String, _ path: String, _ dependencies: [Target.Dependency], exclude: [String] = []) -> Target {
    .testTarget(name: name, dependencies: dependencies, path: path, exclude: exclude, swiftSettings: strict)
}

func library(_ name: String, _ path: String, _ pkgConfig: String, apt: String, brew: String) -> Target {
    .systemLibrary(name: name, path: path, pkgConfig: pkgConfig, providers: [.apt([apt]), .brew([brew])])
}

/// Functions of C in a header.
func headers(_ name: String, _ path: String) -> Target { .systemLibrary(name: name, path: path) }

func only(_ target: String, _ trait: String) -> Target.Dependency {
    .target(name: target, condition: .when(traits: [trait]))
}

let arguments = Target.Dependency.product(name: "ArgumentParser", package: "swift-argument-parser")

let package = Package(
    name: "polystore",
    platforms: [.macOS(.v15)],
    products: [
        .library(name: "PolystoreSchema", targets: ["PolystoreSchema"]),
        .library(name: "PolystoreStorage", targets: ["PolystoreStorage"]),
        .library(name: "PolystoreKeyValue", targets: ["PolystoreKeyValue"]),
        .library(name: "Polystore", targets: ["Polystore"]),
        .library(name: "PolystoreInterfaces", targets: ["PolystoreInterfaces"]),
        .library(name: "PolystoreMacros", targets: ["PolystoreMacros"]),
        .library(name: "PolystoreInMemory", targets: ["PolystoreInMemory"]),
        .library(name: "PolystoreSQLite", targets: ["PolystoreSQLite"]),
        .library(name: "PolystorePostgreSQL", targets: ["PolystorePostgreSQL"]),
        .library(name: "PolystoreLMDB", targets: ["PolystoreLMDB"]),
        .library(name: "PolystoreCatalog", targets: ["PolystoreCatalog"]),
        .library(name: "PolystoreDefaults", targets: ["PolystoreDefaults"]),
        .library(name: "PolystoreCompatibility", targets: ["PolystoreCompatibility"]),
        .library(name: "PolystoreInstrumentation", targets: ["PolystoreInstrumentation"]),
        .library(name: "PolystoreTransfer", targets: ["PolystoreTransfer"]),
        .library(name: "PolystoreBrowsing", targets: ["PolystoreBrowsing"]),
        .library(name: "PolystoreCLI", targets: ["PolystoreCLI"]),
        .library(name: "PolystoreConformance", targets: ["PolystoreConformance"]),
        .executable(name: "polystore", targets: ["polystore-command"]),
        .executable(name: "polystore-conformance", targets: ["polystore-conformance"]),
    ],
    traits: [
        .default(enabledTraits: ["SQLite", "PostgreSQL", "LMDB"]),
        .trait(name: "SQLite", description: "The store over libsqlite3."),
        .trait(name: "PostgreSQL", description: "The store over libpq."),
        .trait(name: "LMDB", description: "The store over liblmdb."),
        .trait(name: "Macros", description: "The @Model macro; it needs swift-syntax, minutes in a clean release build."),
    ],
    dependencies: [
        .package(url: "https://github.com/apple/swift-argument-parser", from: "1.8.0"),
        .package(url: "https://github.com/apple/swift-log", from: "1.6.0"),
        .package(url: "https://github.com/apple/swift-metrics", from: "2.5.0"),
        .package(url: "https://github.com/apple/swift-distributed-tracing", from: "1.1.0"),
        .package(url: "https://github.com/swiftlang/swift-syntax", "602.0.0"..<"604.0.0"),
    ],
    targets: [
        // The parts of Foundation that everything below uses: a program with a store does not link the rest (decision 0086).
        module("PolystoreFoundation", "Sources/PolystoreFoundation"),

        // What data looks like, what is asked of it, and what a store signs.
        module("PolystoreSchema", "Sources/PolystoreSchema", ["PolystoreFoundation"]),
        module("PolystoreModelCode", "Sources/PolystoreModelCode", ["PolystoreSchema"]),
        module(
            "PolystoreQuery", "Sources/PolystoreQuery", ["PolystoreFoundation", "PolystoreSchema"], exclude: ["Folding/generate.py"]),
        module("PolystoreStorage", "Sources/PolystoreStorage", ["PolystoreFoundation", "PolystoreSchema", "PolystoreQuery"]),

        // Objects over any store, what observes them, and both together.
        module(
            "PolystoreObjects", "Sources/PolystoreObjects",
            ["PolystoreFoundation", "PolystoreStorage", .product(name: "Logging", package: "swift-log")]),
        module("PolystoreObservation", "Sources/PolystoreObservation", ["PolystoreFoundation", "PolystoreObjects"]),
        module("Polystore", "Sources/Polystore", ["PolystoreObjects", "PolystoreObservation"]),

        // SwiftUI, UIKit and AppKit over observation; empty on other platforms.
        module("PolystoreInterfaces", "Sources/PolystoreInterfaces", ["Polystore"]),
        module(
            "PolystoreMacros", "Sources/PolystoreMacros", ["Polystore", only("PolystoreMacrosPlugin", "Macros")], exclude: ["Plugin"]),
        .macro(
            name: "PolystoreMacrosPlugin",
            dependencies: [
                "PolystoreModelCode", "PolystoreSchema",
                .product(name: "SwiftSyntax", package: "swift-syntax", condition: .when(traits: ["Macros"])),
                .product(name: "SwiftParser", package: "swift-syntax", condition: .when(traits: ["Macros"])),
                .product(name: "SwiftDiagnostics", package: "swift-syntax", condition: .when(traits: ["Macros"])),
                .product(name: "SwiftSyntaxBuilder", package: "swift-syntax", condition: .when(traits: ["Macros"])),
                .product(name: "SwiftSyntaxMacros", package: "swift-syntax", condition: .when(traits: ["Macros"])),
                .product(name: "SwiftCompilerPlugin", package: "swift-syntax", condition: .when(traits: ["Macros"])),
            ],
            path: "Sources/PolystoreMacros/Plugin", swiftSettings: strict),
        module("PolystoreTransfer", "Sources/PolystoreTransfer", ["PolystoreStorage", "PolystoreObjects"]),

        // The pages that the package in `Sources/Browse` serves; they need no server.
        module("PolystoreBrowsing", "Sources/PolystoreBrowsing", ["PolystoreFoundation", "PolystoreStorage"]),

        // The four stores.
        module("PolystoreSQL", "Backends/Shared/SQL", ["PolystoreFoundation", "PolystoreStorage"]),
        headers("CChecksum", "Backends/Shared/CChecksum"),
        module("PolystoreKeyValue", "Backends/Shared/KeyValue", ["PolystoreFoundation", "PolystoreStorage", "CChecksum"]),
        module("PolystoreInMemory", "Backends/InMemory/Store", ["PolystoreStorage", "PolystoreKeyValue"]),
        library("CSQLite", "Backends/SQLite/CSQLite", "sqlite3", apt: "libsqlite3-dev", brew: "sqlite"),
        module(
            "PolystoreSQLite", "Backends/SQLite/Store",
            ["PolystoreFoundation", "PolystoreStorage", "PolystoreSQL", only("CSQLite", "SQLite")]),
        library("CLibPQ", "Backends/PostgreSQL/CLibPQ", "libpq", apt: "libpq-dev", brew: "libpq"),
        module(
            "PolystorePostgreSQL", "Backends/PostgreSQL/Store",
            ["PolystoreFoundation", "PolystoreStorage", "PolystoreSQL", only("CLibPQ", "PostgreSQL")]),
        library("CLMDB", "Backends/LMDB/CLMDB", "lmdb", apt: "liblmdb-dev", brew: "lmdb"),
        module(
            "PolystoreLMDB", "Backends/LMDB/Store", ["PolystoreFoundation", "PolystoreStorage", "PolystoreKeyValue", only("CLMDB", "LMDB")]),
        module(
            "PolystoreCatalog", "Backends/Catalog",
            [
                "PolystoreFoundation", "PolystoreStorage", "PolystoreInMemory", "PolystoreSQLite", "PolystorePostgreSQL", "PolystoreLMDB",
            ]),
        module(
            "PolystoreDefaults", "Backends/Defaults",
            ["PolystoreFoundation", "Polystore", "PolystoreCatalog", "PolystoreInMemory", "PolystoreSQLite"]),

        // Metrics and spans.
        module(
            "PolystoreInstrumentation", "Sources/PolystoreInstrumentation",
            [
                "Polystore", .product(name: "Metrics", package: "swift-metrics"),
                .product(name: "Tracing", package: "swift-distributed-tracing"),
            ]),

        // The spellings of the libraries that came before.
        module(
            "PolystoreCompatibility", "Sources/PolystoreCompatibility",
            ["Polystore", "PolystoreDefaults"]),

        // The conformance suite and the two programs.
        module(
            "PolystoreConformance", "Conformance/Suite", ["PolystoreStorage", "Polystore", arguments],
            exclude: ["Generated/Graph.json"]),
        .executableTarget(
            name: "polystore-conformance", dependencies: ["PolystoreConformance", "PolystoreCatalog"], path: "Conformance/Runner",
            swiftSettings: strict),
        .target(
            name: "PolystoreCLI",
            dependencies: ["PolystoreStorage", "Polystore", "PolystoreTransfer", "PolystoreCatalog", "PolystoreModelCode", arguments],
            path: "Sources/PolystoreCLI", exclude: ["Main"], resources: [.copy("Resources/flights")], swiftSettings: strict),
        .executableTarget(
            name: "polystore-command", dependencies: ["PolystoreCLI", "PolystoreCatalog"], path: "Sources/PolystoreCLI/Main",
            swiftSettings: strict),

        // Tests.
        .executableTarget(
            name: "polystore-crash", dependencies: ["Polystore", "PolystoreCatalog", "RawSessions"], path: "Tests/CrashHelper",
            swiftSettings: strict),
        module("RawSessions", "Tests/RawSessions", ["PolystoreStorage"]),
        .target(name: "TestEnvironment", path: "Tests/TestEnvironment"),
        module(
            "TestStores", "Tests/TestStores",
            ["Polystore", "PolystoreInMemory", "PolystoreSQLite", "PolystoreLMDB", "PolystorePostgreSQL"]),
        tests("ExampleTests", "Tests/ExampleTests", ["Polystore"]),
        tests(
            "DocumentationTests", "Tests/DocumentationTests",
            [
                "Polystore", "PolystoreBrowsing", "PolystoreCatalog", "PolystoreCompatibility", "PolystoreConformance", "PolystoreDefaults",
                "PolystoreInMemory", "PolystoreKeyValue", "PolystoreLMDB", "PolystoreMacros", "PolystorePostgreSQL", "PolystoreSQLite",
                "PolystoreStorage", "PolystoreTransfer", "TestStores",
            ]),
        tests(
            "CrashTests", "Tests/CrashTests", ["Polystore", "PolystoreCatalog", "RawSessions", "polystore-crash"],
            exclude: ["FailingCalls/failing-calls.c"]),
        tests(
            "GoldenTests", "Tests/GoldenTests",
            ["Polystore", "PolystoreSQLite", "PolystoreLMDB", "PolystorePostgreSQL", "TestStores"], exclude: ["Golden"]),
        tests("PolystoreSchemaTests", "Tests/PolystoreSchemaTests", ["PolystoreFoundation", "PolystoreSchema"]),
        tests("PolystoreStorageTests", "Tests/PolystoreStorageTests", ["PolystoreStorage"]),
        tests("PolystoreQueryTests", "Tests/PolystoreQueryTests", ["PolystoreQuery", "PolystoreSchema"]),
        tests(
            "PolystoreTransferTests", "Tests/PolystoreTransferTests",
            ["PolystoreTransfer", "PolystoreStorage", "Polystore", "PolystoreInMemory", "PolystoreSQLite", "TestStores"]),
        tests(
            "PolystoreBrowsingTests", "Tests/PolystoreBrowsingTests",
            ["PolystoreBrowsing", "Polystore", "PolystoreSQLite", "TestStores"]),
        tests("PolystoreCLITests", "Tests/PolystoreCLITests", ["polystore-command", "polystore-conformance"]),
        tests(
            "PolystoreMacrosTests", "Tests/PolystoreMacrosTests",
            ["PolystoreMacros", "PolystoreCompatibility", "PolystoreModelCode", "PolystoreInMemory", "RawSessions", "TestStores"]),
        tests(
            "PolystoreInstrumentationTests", "Tests/PolystoreInstrumentationTests",
            [
                "PolystoreInstrumentation", "PolystoreInMemory", .product(name: "MetricsTestKit", package: "swift-metrics"),
                .product(name: "Metrics", package: "swift-metrics"),
                .product(name: "InMemoryTracing", package: "swift-distributed-tracing"),
                .product(name: "Tracing", package: "swift-distributed-tracing"),
            ]),
        tests(
            "PolystoreCompatibilityTests", "Tests/PolystoreCompatibilityTests",
            [
                "PolystoreCompatibility", "PolystoreInMemory", "PolystoreSQLite", "PolystorePostgreSQL", "TestEnvironment", "TestStores",
            ]),
        tests(
            "ConformanceTests", "Tests/ConformanceTests",
            [
                "PolystoreCatalog", "PolystoreConformance", "PolystoreStorage", "PolystoreInMemory", "PolystoreSQLite", "TestEnvironment",
            ],
            exclude: ["SDKNames.txt"]),
        tests(
            "InMemoryTests", "Tests/Backends/InMemoryTests",
            ["PolystoreConformance", "PolystoreCatalog", "PolystoreInMemory", "PolystoreStorage"]),
        tests(
            "KeyValueTests", "Tests/Backends/KeyValueTests",
            ["PolystoreCatalog", "PolystoreInMemory", "PolystoreKeyValue", "PolystoreStorage", "RawSessions"]),
        tests(
            "SQLiteTests", "Tests/Backends/SQLiteTests",
            ["CSQLite", "PolystoreConformance", "PolystoreCatalog", "PolystoreSQLite", "PolystoreStorage", "RawSessions"]),
        tests(
            "ForeignDatabaseTests", "Tests/Backends/ForeignDatabaseTests",
            [
                "Polystore", "PolystoreTransfer", "PolystoreCatalog", "PolystoreStorage", "PolystoreLMDB", "PolystoreSQLite",
                "RawSessions", "TestStores",
            ]),
        tests(
            "LMDBTests", "Tests/Backends/LMDBTests",
            [
                "PolystoreConformance", "PolystoreCatalog", "PolystoreKeyValue", "PolystoreLMDB", "PolystoreStorage", "RawSessions",
            ]),
        tests(
            "PostgreSQLTests", "Tests/Backends/PostgreSQLTests",
            [
                "Polystore", "PolystoreConformance", "PolystoreCatalog", "PolystorePostgreSQL", "PolystoreSQL", "PolystoreStorage",
                "RawSessions",
            ]),
        tests(
            "PolystoreTests", "Tests/PolystoreTests",
            [
                "Polystore", "PolystoreObjects", "PolystoreObservation", "PolystoreModelCode", "PolystoreCatalog",
                "PolystoreInMemory", "PolystoreSQLite", "PolystoreLMDB", "PolystorePostgreSQL", "RawSessions", "TestStores",
            ],
            exclude: ["Models/Awkward.json"]),
    ],
    swiftLanguageModes: [.v6]
)

// The library for other languages. Its functions are declared with @c, which is a part of Swift 6.3.
#if compiler(>=6.3)
package.products.append(.library(name: "polystore-c", type: .dynamic, targets: ["PolystoreC"]))
package.targets += [
    .systemLibrary(name: "CPolystore", path: "Sources/PolystoreC/include"),
    module(
        "PolystoreC", "Sources/PolystoreC", ["CPolystore", "Polystore", "PolystoreStorage", "PolystoreTransfer", "PolystoreCatalog"],
        exclude: ["include", "Python"]),
]
#endif

// POLYSTORE_UNOPTIMIZED=PolystoreConformance,… compiles these targets without optimization in release builds too: the optimizer takes
// five minutes for the suite, most of whose cases run once.
let unoptimized = Set((Context.environment["POLYSTORE_UNOPTIMIZED"] ?? "").split(separator: ",").map(String.init))
for target in package.targets where unoptimized.contains(target.name) {
    target.swiftSettings = (target.swiftSettings ?? []) + [.unsafeFlags(["-Onone"], .when(configuration: .release))]
}

// POLYSTORE_WITHOUT=PolystoreTests,… leaves out these test targets.
let left = Set((Context.environment["POLYSTORE_WITHOUT"] ?? "").split(separator: ",").map(String.init))
package.targets.removeAll { $0.isTest && left.contains($0.name) }

// POLYSTORE_TESTS=PolystoreTests,… leaves only these test targets and what they need: building everything with a sanitizer takes too long.
if let names = Context.environment["POLYSTORE_TESTS"] {
    var needed = Set(names.split(separator: ",").map(String.init)), found: Set<String> = []
    while found != needed {
        found = needed
        for target in package.targets where found.contains(target.name) {
            for case .byNameItem(let name, _) in target.dependencies { needed.insert(name) }
            for case .targetItem(let name, _) in target.dependencies { needed.insert(name) }
        }
    }
    package.targets.removeAll { !needed.contains($0.name) }
    package.products.removeAll { product in
        let targets = (product as? Product.Library)?.targets ?? (product as? Product.Executable)?.targets ?? []
        return !needed.isSuperset(of: targets)
    }
}

// swift-tools-version: 6.2
import PackageDescription

// A package of its own, so that programs that use Polystore neither resolve nor build the web server.

let strict: [SwiftSetting] = [
    .treatAllWarnings(as: .error),
    .enableUpcomingFeature("ExistentialAny"),
    .enableUpcomingFeature("InternalImportsByDefault"),
    .enableUpcomingFeature("MemberImportVisibility"),
]

let package = Package(
    name: "polystore-browse",
    platforms: [.macOS(.v15)],
    products: [
        .library(name: "PolystoreBrowse", targets: ["PolystoreBrowse"]),
        .executable(name: "polystore-browse", targets: ["polystore-browse"]),
    ],
    dependencies: [
        .package(name: "polystore", path: "../..", traits: ["SQLite", "PostgreSQL", "LMDB"]),
        // Only its core is used, which needs neither a router nor TLS.
        .package(url: "https://github.com/hummingbird-project/hummingbird", from: "2.28.0", traits: []),
        .package(url: "https://github.com/apple/swift-argument-parser", from: "1.8.0"),
        .package(url: "https://github.com/apple/swift-http-types", from: "1.8.0"),
        .package(url: "https://github.com/apple/swift-log", from: "1.14.0"),
        .package(url: "https://github.com/apple/swift-nio", from: "2.101.0"),
        .package(url: "https://github.com/swift-server/swift-service-lifecycle", from: "2.0.0"),
    ],
    targets: [
        .target(
            name: "PolystoreBrowse",
            dependencies: [
                .product(name: "PolystoreBrowsing", package: "polystore"),
                .product(name: "PolystoreStorage", package: "polystore"),
                .product(name: "HummingbirdCore", package: "hummingbird"),
                .product(name: "HTTPTypes", package: "swift-http-types"),
                .product(name: "Logging", package: "swift-log"),
                .product(name: "NIOCore", package: "swift-nio"),
                .product(name: "NIOPosix", package: "swift-nio"),
                .product(name: "ServiceLifecycle", package: "swift-service-lifecycle"),
            ],
            swiftSettings: strict),
        .executableTarget(
            name: "polystore-browse",
            dependencies: [
                "PolystoreBrowse",
                .product(name: "PolystoreBrowsing", package: "polystore"),
                .product(name: "PolystoreCatalog", package: "polystore"),
                .product(name: "PolystoreStorage", package: "polystore"),
                .product(name: "ArgumentParser", package: "swift-argument-parser"),
                .product(name: "Logging", package: "swift-log"),
                .product(name: "ServiceLifecycle", package: "swift-service-lifecycle"),
                .product(name: "UnixSignals", package: "swift-service-lifecycle"),
            ],
            swiftSettings: strict),
        .testTarget(
            name: "PolystoreBrowseTests",
            dependencies: [
                "PolystoreBrowse", "polystore-browse",
                .product(name: "PolystoreBrowsing", package: "polystore"),
                .product(name: "PolystoreStorage", package: "polystore"),
                .product(name: "PolystoreInMemory", package: "polystore"),
                .product(name: "PolystoreSQLite", package: "polystore"),
                .product(name: "Logging", package: "swift-log"),
                .product(name: "ServiceLifecycle", package: "swift-service-lifecycle"),
            ],
            swiftSettings: strict),
    ],
    swiftLanguageModes: [.v6]
)

// POLYSTORE_MODULES names a folder with the compiled modules of Polystore and all their code in libpolystore.a, which a full run uses: it
// has just compiled them.
if let modules = Context.environment["POLYSTORE_MODULES"] {
    package.dependencies.removeFirst()
    for target in package.targets {
        target.dependencies.removeAll { dependency in
            if case .productItem(_, "polystore", _, _) = dependency { true } else { false }
        }
        target.swiftSettings = (target.swiftSettings ?? []) + [.unsafeFlags(["-I", modules])]
    }
    package.targets[0].linkerSettings = [
        // Whole, because nothing names the objects that have only conformances.
        .unsafeFlags(["-Xlinker", "--whole-archive", "-Xlinker", "\(modules)/libpolystore.a", "-Xlinker", "--no-whole-archive"]),
        .linkedLibrary("sqlite3"), .linkedLibrary("pq"), .linkedLibrary("lmdb"),
    ]
}

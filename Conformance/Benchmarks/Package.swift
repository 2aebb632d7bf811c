// swift-tools-version: 6.2
import PackageDescription

// This is a separate package, so that adopters of Polystore never resolve the packages that it is compared with.
let package = Package(
    name: "polystore-benchmarks",
    platforms: [.macOS(.v15)],
    dependencies: [
        .package(name: "polystore", path: "../.."),
        .package(url: "https://github.com/groue/GRDB.swift", exact: "7.10.0"),
        .package(url: "https://github.com/apple/swift-argument-parser", from: "1.8.0"),
    ],
    targets: [
        .systemLibrary(
            name: "CFloorPQ", path: "CFloorPQ", pkgConfig: "libpq", providers: [.apt(["libpq-dev"]), .brew(["libpq"])]),
        // The cost of the engines alone: C code that includes their headers directly.
        .target(
            name: "CFloor", dependencies: ["CFloorPQ"], path: "CFloor", cSettings: [.unsafeFlags(["-O2"])],
            linkerSettings: [.linkedLibrary("sqlite3"), .linkedLibrary("lmdb"), .linkedLibrary("pq")]),
        .executableTarget(
            name: "polystore-benchmarks",
            dependencies: [
                "CFloor",
                .product(name: "GRDB", package: "GRDB.swift"),
                .product(name: "Polystore", package: "polystore"),
                .product(name: "PolystoreInMemory", package: "polystore"),
                .product(name: "PolystoreSQLite", package: "polystore"),
                .product(name: "PolystoreLMDB", package: "polystore"),
                .product(name: "PolystorePostgreSQL", package: "polystore"),
                .product(name: "PolystoreTransfer", package: "polystore"),
                .product(name: "PolystoreCatalog", package: "polystore"),
                .product(name: "PolystoreCompatibility", package: "polystore"),
                .product(name: "ArgumentParser", package: "swift-argument-parser"),
            ], path: "Sources"),
    ],
    swiftLanguageModes: [.v6]
)

// swift-tools-version: 6.2
import PackageDescription

let polystore = ["Polystore", "PolystoreMacros", "PolystoreCatalog"]

func products(_ names: [String]) -> [Target.Dependency] { names.map { .product(name: $0, package: "polystore") } }

let package = Package(
    name: "polystore-examples",
    platforms: [.macOS(.v15)],
    dependencies: [
        .package(name: "polystore", path: "../..", traits: ["SQLite", "PostgreSQL", "LMDB", "Macros"]),
        .package(url: "https://github.com/apple/swift-argument-parser", from: "1.8.0"),
        .package(url: "https://github.com/hummingbird-project/hummingbird", from: "2.28.0", traits: []),
        .package(url: "https://github.com/swift-server/swift-service-lifecycle", from: "2.0.0"),
    ],
    targets: [
        // A notebook on the command line.
        .executableTarget(
            name: "notebook",
            dependencies: products(polystore) + [.product(name: "ArgumentParser", package: "swift-argument-parser")],
            path: "Notebook"),
        // An HTTP service, and the events of its list.
        .executableTarget(
            name: "task-service",
            dependencies: products(polystore) + [
                .product(name: "Hummingbird", package: "hummingbird"),
                .product(name: "ServiceLifecycle", package: "swift-service-lifecycle"),
            ],
            path: "TaskService"),
        // A job that follows what other programs commit.
        .executableTarget(
            name: "order-log",
            dependencies: products(polystore) + [.product(name: "ArgumentParser", package: "swift-argument-parser")],
            path: "OrderLog"),
        // A transfer with the names and types of a later model.
        .executableTarget(
            name: "shop-move",
            dependencies: products(["PolystoreTransfer", "PolystoreStorage", "PolystoreCatalog"]) + [
                .product(name: "ArgumentParser", package: "swift-argument-parser")
            ],
            path: "ShopMove"),
        // Runs the programs, which `swift test` builds with it.
        .testTarget(name: "ExampleProgramTests", path: "Tests"),
    ],
    swiftLanguageModes: [.v6]
)

// POLYSTORE_MODULES names a folder with the compiled modules of Polystore, its macro, and all their code in libpolystore.a. A full run of the
// tests uses it, because it has just compiled them.
if let modules = Context.environment["POLYSTORE_MODULES"] {
    package.dependencies[0] = .package(url: "https://github.com/apple/swift-log", from: "1.6.0")
    for target in package.targets {
        target.dependencies.removeAll { dependency in
            if case .productItem(_, "polystore", _, _) = dependency { true } else { false }
        }
        target.swiftSettings = [
            .unsafeFlags([
                "-I", modules, "-load-plugin-executable", "\(modules)/PolystoreMacrosPlugin-tool#PolystoreMacrosPlugin",
            ])
        ]
        if target.type == .test { continue }
        target.dependencies.append(.product(name: "Logging", package: "swift-log"))
        target.linkerSettings = [
            // Whole, because nothing names the objects that have only conformances.
            .unsafeFlags(["-Xlinker", "--whole-archive", "-Xlinker", "\(modules)/libpolystore.a", "-Xlinker", "--no-whole-archive"]),
            .linkedLibrary("sqlite3"), .linkedLibrary("pq"), .linkedLibrary("lmdb"), .linkedLibrary("swiftObservation"),
            .linkedLibrary("swiftSynchronization"),
        ]
    }
}

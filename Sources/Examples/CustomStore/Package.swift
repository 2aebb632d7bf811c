// swift-tools-version: 6.2
import PackageDescription

// A package outside the manifest with a store of its own: it gets the command line and the conformance runner for it.
let package = Package(
    name: "custom-store",
    platforms: [.macOS(.v15)],
    // Without any of the stores of the package, which shows too that everything else builds without them.
    dependencies: [.package(name: "polystore", path: "../../..", traits: [])],
    targets: [
        .target(
            name: "ToyStore",
            dependencies: [
                .product(name: "PolystoreStorage", package: "polystore"), .product(name: "PolystoreCatalog", package: "polystore"),
            ]),
        .executableTarget(
            name: "toy-polystore", dependencies: ["ToyStore", .product(name: "PolystoreCLI", package: "polystore")]),
        .executableTarget(
            name: "toy-conformance", dependencies: ["ToyStore", .product(name: "PolystoreConformance", package: "polystore")]),
    ]
)

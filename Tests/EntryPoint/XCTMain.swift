import Testing

/// Runs the tests in builds without an index, from which SwiftPM would list those of XCTest.
@main struct EntryPoint {
    static func main() async { await Testing.__swiftPMEntryPoint() as Never }
}

import Foundation

/// The server that `.ci/run` starts for the tests; never one that happens to run.
enum TestServer {
    static let url = ProcessInfo.processInfo.environment["POLYSTORE_TEST_POSTGRES"]
}

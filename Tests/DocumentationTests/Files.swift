import Foundation

/// A path in the temporary folder that no other test uses.
func temporaryPath() -> String {
    FileManager.default.temporaryDirectory.appendingPathComponent("polystore-\(UUID().uuidString).db").path
}

internal import Foundation
internal import PolystoreStorage

extension StorageError {
    /// Returns the error with the name of the store before its message, unless the message contains it.
    func naming(_ store: StoreURL) -> StorageError {
        let name = store.redacted.excerpt(200)
        if message.contains(name) { return self }
        return StorageError(code, "\(name): \(message)\(relativePath(store) ?? "")", details: details, cause: self)
    }

    /// Returns how to write a relative path, if the file of a URL with three slashes cannot be opened. Other programs read such a URL as a
    /// relative path.
    private func relativePath(_ store: StoreURL) -> String? {
        guard code == .notFound || code == .permissionDenied, StoreURL.fileSchemes.contains(store.scheme) else { return nil }
        let start = "\(store.scheme):///"
        guard store.text.lowercased().hasPrefix(start) else { return nil }
        let path = store.text.dropFirst(start.count).prefix { $0 != "?" }
        if path.isEmpty || path.hasPrefix("/") { return nil }
        // A path with folders is probably meant to be absolute.
        if path.contains("/") && !FileManager.default.fileExists(atPath: String(path)) { return nil }
        return "; the path of this URL is /\(path), write \(store.scheme):\(path) for a file in the current folder"
    }
}

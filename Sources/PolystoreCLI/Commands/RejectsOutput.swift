internal import Foundation
internal import PolystoreStorage
internal import PolystoreTransfer

/// The files with the records that a load has left out.
struct RejectsOutput {
    private let path: String
    private let isFolder: Bool

    /// Returns whether a file contains rejected records: the first line has the name of a property of them.
    static func isOwn(_ file: FileBlocks) throws -> Bool { try Stores.hasMark(file, ["polystore_reason", "polystore_key"]) }

    /// The number of rejected records that are shown.
    private static let mostShown = 20

    /// - Parameters:
    ///   - isFolder: Whether there are several files, with the names that they have in the mapping.
    ///   - input: The file that is loaded, which must not be replaced.
    /// - Throws: Errors of a path that cannot be used.
    init(_ path: String, isFolder: Bool, input: String?) throws(StorageError) {
        self.path = path
        self.isFolder = isFolder
        if isFolder {
            if FileManager.default.fileExists(atPath: path) {
                throw StorageError(.alreadyExists, "\(path) exists already; the rejected records of a mapping need a new folder")
            }
        } else {
            try Stores.check(output: path, from: input)
            try Stores.check(replacing: path, "a file of rejected records", where: Self.isOwn)
            // A file that cannot be written is refused before anything is read.
            _ = try OutputFile(path)
        }
    }

    /// Writes the rejected records of each file, again if the load had to begin again.
    ///
    /// Beside those of a mapping is a copy of the mapping, `load.json`, for the files that have some.
    func write(_ rejects: LoadRejects, _ mapping: LoadMapping) throws(StorageError) {
        // The records that an earlier run has left out are in the store now, so its file becomes empty.
        if rejects.count == 0, isFolder || Stores.identity(path) == nil { return }
        if !isFolder { return try writeFile(rejects, mapping) }
        var rest = mapping, taken: Set<String> = ["load.json"]
        rest.files = []
        for (index, file) in mapping.files.enumerated() {
            // Several files may have the same name in different folders, or be one file with records of several entities.
            let inside = Self.inside(file.file)
            var name = inside, number = index + 1
            while !taken.insert(name).inserted {
                name = "\(number)/\(inside)"
                number += mapping.files.count
            }
            guard let text = try rejects.text(ofFile: index, named: name) else { continue }
            rest.files.append(file)
            rest.files[rest.files.count - 1].file = name
            let place = URL(fileURLWithPath: path).appendingPathComponent(name).path
            try makeFolder(of: place)
            let output = try OutputFile(place)
            try output.write(text)
            try output.finish()
        }
        let output = try OutputFile(URL(fileURLWithPath: path).appendingPathComponent("load.json").path)
        do { try output.write(Array(JSONEncoder().encode(rest))) } catch let error as StorageError { throw error } catch {
            throw StorageError(.inputOutput, "the mapping cannot be written", cause: error)
        }
        try output.finish()
    }

    /// Writes the rejected records of one file, which may have records of several entities.
    private func writeFile(_ rejects: LoadRejects, _ mapping: LoadMapping) throws(StorageError) {
        let output = try OutputFile(path)
        for index in mapping.files.indices {
            if let text = try rejects.text(ofFile: index, named: path) { try output.write(text) }
        }
        try output.finish()
    }

    /// Shows the reasons of the first rejected records.
    func show(_ rejects: LoadRejects, _ mapping: LoadMapping, isQuiet: Bool) {
        let records = mapping.files.indices.flatMap(rejects.records(ofFile:))
        for record in records.prefix(isQuiet ? 0 : Self.mostShown) { Console.error("rejected: \(record.reason)") }
        let more = isQuiet ? 0 : max(0, records.count - Self.mostShown)
        Console.error(
            "polystore: \(records.count) records were rejected\(more > 0 ? ", \(more) of which are not shown" : ""); they are in \(path)")
    }

    private func makeFolder(of file: String) throws(StorageError) {
        do {
            try FileManager.default.createDirectory(
                at: URL(fileURLWithPath: file).deletingLastPathComponent(), withIntermediateDirectories: true)
        } catch { throw StorageError(.inputOutput, "the folder \(path) cannot be made", cause: error) }
    }

    /// Returns the path of a file without the steps that lead out of its folder.
    private static func inside(_ file: String) -> String {
        file.split(separator: "/").filter { $0 != ".." && $0 != "." }.joined(separator: "/")
    }
}

import Foundation
import Testing

/// The compiler over a text, with the modules and the macro of this build.
enum Compiler {
    /// What is wrong with a text: line and message of each error, in order. An error inside of an expansion has line 0, and behind its message
    /// the property or class that was expanded.
    static func errors(in text: String, file name: String = "Try.swift") throws -> [String] {
        let (output, path) = try compile(text, name)
        return read(output, path)
    }

    /// What the compiler proposes to write, in order: the text that a note prints below the source.
    static func proposals(in text: String) throws -> [String] {
        let lines = try compile(text, "Try.swift").output.split(separator: "\n", omittingEmptySubsequences: false)
        return lines.indices.dropLast(3).filter { lines[$0].contains(": note: write ") }.map {
            lines[$0 + 3].trimmingCharacters(in: .whitespaces)
        }
    }

    private static func compile(_ text: String, _ name: String) throws -> (output: String, path: String) {
        let products = URL(fileURLWithPath: CommandLine.arguments[0]).deletingLastPathComponent()
        let folder = FileManager.default.temporaryDirectory.appendingPathComponent("polystore-compiler-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: folder) }
        let file = folder.appendingPathComponent(name)
        try text.write(to: file, atomically: true, encoding: .utf8)
        let process = Process(), pipe = Pipe()
        process.executableURL = URL(fileURLWithPath: "/usr/bin/env")
        process.arguments = [
            "swiftc", "-typecheck", "-swift-version", "6", "-diagnostic-style", "llvm", "-parse-as-library", "-module-name", "Try",
            "-package-name", "try",
            "-load-plugin-executable", "\(products.path)/PolystoreMacrosPlugin-tool#PolystoreMacrosPlugin",
            "-I", "\(products.path)/Modules", file.path,
        ]
        process.standardInput = FileHandle.nullDevice
        process.standardError = pipe
        process.standardOutput = FileHandle.nullDevice
        try process.run()
        let output = String(decoding: pipe.fileHandleForReading.readDataToEndOfFile(), as: UTF8.self)
        process.waitUntilExit()
        return (output, file.path)
    }

    private static func read(_ output: String, _ path: String) -> [String] {
        var errors: [String] = []
        for line in output.split(separator: "\n") {
            if let expansion = line.range(of: "note: in expansion of macro "), var last = errors.last, last.hasPrefix("0: ") {
                last += " (" + line[expansion.upperBound...].split(separator: " ").dropFirst(2).prefix(2).joined(separator: " ") + ")"
                errors[errors.count - 1] = last
            }
            guard let mark = line.range(of: ": error: ") else { continue }
            let message = line[mark.upperBound...].replacing(#/ \(from macro 'Model ?'\)/#, with: "")
            let place = line[..<mark.lowerBound].split(separator: ":")
            errors.append("\(line.hasPrefix(path) && place.count > 1 ? place[1] : "0"): \(message)")
        }
        return errors
    }
}

internal import Foundation

/// The memory of this process.
enum Memory {
    /// The peak of resident bytes since `forgetPeak`; nil where the system does not report it.
    static var peak: Int? { status("VmHWM:") }

    /// Resets the peak.
    static func forgetPeak() {
        // https://docs.kernel.org/filesystems/proc.html: 5 resets the peak to the current resident size.
        try? "5".write(toFile: "/proc/self/clear_refs", atomically: false, encoding: .utf8)
    }

    private static func status(_ name: String) -> Int? {
        guard let text = try? String(contentsOfFile: "/proc/self/status", encoding: .utf8) else { return nil }
        let line = text.split(separator: "\n").first { $0.hasPrefix(name) }
        return line?.split(whereSeparator: \.isWhitespace).compactMap { Int($0) }.first.map { $0 * 1024 }
    }

    /// Returns the maximum growth of the resident memory while `body` ran, or nil where the system does not report it.
    static func growth(_ body: () throws -> Void) rethrows -> Int? {
        forgetPeak()
        let before = peak
        try body()
        guard let before, let after = peak else { return nil }
        return after - before
    }
}

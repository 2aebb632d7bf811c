internal import Foundation

/// The memory of this process.
enum Memory {
    /// The most bytes that were resident since `forgetPeak`; nil where the system does not tell.
    static var peak: Int? { status("VmHWM:") }

    /// Begins a new peak.
    static func forgetPeak() {
        // https://docs.kernel.org/filesystems/proc.html: 5 sets the peak to what is resident now.
        try? "5".write(toFile: "/proc/self/clear_refs", atomically: false, encoding: .utf8)
    }

    private static func status(_ name: String) -> Int? {
        guard let text = try? String(contentsOfFile: "/proc/self/status", encoding: .utf8) else { return nil }
        let line = text.split(separator: "\n").first { $0.hasPrefix(name) }
        return line?.split(whereSeparator: \.isWhitespace).compactMap { Int($0) }.first.map { $0 * 1024 }
    }

    /// How much more than before was resident at the most while `body` ran; nil where the system does not tell.
    static func growth(_ body: () throws -> Void) rethrows -> Int? {
        forgetPeak()
        let before = peak
        try body()
        guard let before, let after = peak else { return nil }
        return after - before
    }
}

internal import HummingbirdCore
internal import NIOCore
internal import NIOPosix
internal import PolystoreBrowsing
internal import PolystoreStorage
internal import ServiceLifecycle

/// The history of a store as server-sent events, until the visitor leaves or the server ends.
struct HistoryFeed: Sendable {
    private let browser: StoreBrowser
    private let threads: NIOThreadPool
    private let start: Int64?

    private static let pause = Duration.milliseconds(500)
    /// The number of pauses after which something is written even if nothing happens, which shows that the visitor has left.
    private static let silence = 10

    init(_ browser: StoreBrowser, _ threads: NIOThreadPool, after position: Int64?) {
        self.browser = browser
        self.threads = threads
        start = position
    }

    /// Writes events. If the store fails, writes that once and tries again.
    func write(to writer: inout any ResponseBodyWriter) async throws {
        var position = start, silence = 0, hasTrouble = false
        // Browsers consider a stream open only after its first bytes.
        try await writer.write(ByteBuffer(string: "retry: 1000\n\n"))
        while !Task.isCancelled, !Task.isShuttingDownGracefully {
            let news = try await news(after: position)
            position = news.position
            var text = news.text
            if hasTrouble, news.problem == nil { text = "event: well\ndata: \n\n" + text }
            if let problem = news.problem, !hasTrouble { text = "event: trouble\ndata: \(problem)\n\n" }
            hasTrouble = news.problem != nil
            silence += 1
            if text.isEmpty, silence >= Self.silence { text = ":\n\n" }
            if !text.isEmpty {
                try await writer.write(ByteBuffer(string: text))
                silence = 0
            }
            do { try await Task.sleep(for: Self.pause) } catch { break }
        }
        try await writer.finish(nil)
    }

    private struct News: Sendable {
        var text = ""
        var position: Int64?
        var problem: String?
    }

    private func news(after position: Int64?) async throws -> News {
        let browser = browser
        return try await threads.runIfActive {
            var news = News(position: position)
            do throws(StorageError) { news.text = try browser.events(after: &news.position) } catch {
                news.problem = error.message.replacing("\n", with: " ")
            }
            return news
        }
    }
}

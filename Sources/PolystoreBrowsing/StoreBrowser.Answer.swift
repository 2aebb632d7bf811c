extension StoreBrowser {
    /// The answer to a request.
    public struct Answer: Sendable, Hashable {
        /// The status of HTTP: 200, or that of a page which states what is wrong.
        public let status: Int
        /// The type of the body, with its encoding.
        public let contentType: String
        /// The body.
        public let body: String
    }
}

extension StoreBrowser.Answer {
    /// Creates an answer that is a page.
    init(_ page: HTML, status: Int = 200) { self.init(status: status, contentType: "text/html; charset=utf-8", body: page.text) }
}

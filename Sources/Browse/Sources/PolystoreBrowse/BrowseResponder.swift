internal import HTTPTypes
internal import HummingbirdCore
internal import NIOCore
internal import NIOPosix
internal import PolystoreBrowsing
internal import Synchronization

/// Answers requests: checks the host, the method and the session, and then asks the browser of the store.
struct BrowseResponder: Sendable {
    private let browser: StoreBrowser
    private let gate: SessionGate
    /// Threads that wait for the store, so that those of the server do not.
    private let threads: NIOThreadPool
    private let feeds = FeedTurn.Count()

    private static let longestTarget = 64 << 10

    init(_ browser: StoreBrowser, _ gate: SessionGate, _ threads: NIOThreadPool) {
        self.browser = browser
        self.gate = gate
        self.threads = threads
    }

    /// Returns the response to a request that came to a port.
    func answer(_ request: Request, port: Int?) async -> Response {
        var response = await respond(request, port ?? 0)
        for (name, value) in Self.headers where !response.headers.contains(name) { response.headers[name] = value }
        if response.status.code >= 400 { response.headers[.connection] = "close" }
        return request.method == .head ? response.createHeadResponse() : response
    }

    private func respond(_ request: Request, _ port: Int) async -> Response {
        guard Self.isOwn(request.head.authority, port) else {
            return Self.refusal(.forbidden, "This server answers only under the address that it printed.")
        }
        guard request.method == .get || request.method == .head else {
            var response = Self.refusal(.methodNotAllowed, "This server only shows a store, so it takes only GET and HEAD.")
            response.headers[.allow] = "GET, HEAD"
            return response
        }
        let target = request.head.path ?? "/"
        guard target.utf8.count <= Self.longestTarget else { return Self.refusal(.uriTooLong, "The address is too long.") }
        if let token = Self.token(target) { return entrance(token, request, port) }
        guard Self.cookies(request.headers, Self.cookieName(port)).contains(where: gate.admits) else { return Self.stranger }
        if target.split(separator: "?").first == "/history/events" { return feed(target, request) }
        return await page(target)
    }

    // MARK: The session

    /// Whether a request names this server: a web page whose own host name resolves to this machine sends that name.
    private static func isOwn(_ authority: String?, _ port: Int) -> Bool {
        ["127.0.0.1:\(port)", "localhost:\(port)", "[::1]:\(port)"].contains(authority?.lowercased())
    }

    /// Cookies belong to a host with all of its ports, so the name contains the port.
    private static func cookieName(_ port: Int) -> String { "polystore-browse-\(port)" }

    /// Returns the values of a cookie in the headers of a request.
    private static func cookies(_ headers: HTTPFields, _ name: String) -> [String] {
        headers[values: .cookie].flatMap { $0.split(separator: ";") }.compactMap { pair in
            let sides = pair.split(separator: "=", maxSplits: 1)
            guard sides.count == 2, sides[0].drop(while: { $0 == " " }) == name else { return nil }
            return String(sides[1])
        }
    }

    private static func token(_ target: String) -> String? { target.hasPrefix("/?token=") ? String(target.dropFirst(8)) : nil }

    /// Exchanges a token for the cookie of the session.
    ///
    /// The page opens the overview itself instead of a redirection: a browser that came here by a link of another program would not
    /// send a strict cookie after a redirection.
    private func entrance(_ token: String, _ request: Request, _ port: Int) -> Response {
        // A browser that loads an address before it is visited, or asks only for the head, must not use the token up.
        let purpose = HTTPField.Name("Sec-Purpose").flatMap { request.headers[$0] } ?? ""
        guard request.method == .get, !purpose.contains("prefetch") else { return Self.refusal(.noContent, "") }
        guard let session = gate.exchange(token) else {
            let isKnown = Self.cookies(request.headers, Self.cookieName(port)).contains(where: gate.admits)
            return isKnown ? Self.onward(nil) : Self.stranger
        }
        return Self.onward("\(Self.cookieName(port))=\(session); Path=/; HttpOnly; SameSite=Strict")
    }

    private static func onward(_ cookie: String?) -> Response {
        var response = page(
            .ok,
            "<!doctype html><meta charset=utf-8><meta http-equiv=refresh content=\"0;url=/\"><title>Polystore</title>"
                + "<link rel=icon href=/icon.svg>"
                + "<p><a href=\"/\">Continue</a></p>")
        response.headers[.setCookie] = cookie
        return response
    }

    private static var stranger: Response {
        refusal(
            .unauthorized,
            "This page needs the address with the token that polystore-browse printed. A token works once: to use another browser, start "
                + "the command again.")
    }

    // MARK: Pages

    private func page(_ target: String) async -> Response {
        let browser = browser
        guard let answer = try? await threads.runIfActive({ browser.answer(target) }) else {
            return Self.refusal(.serviceUnavailable, "The server is ending.")
        }
        return Response(
            status: .init(code: answer.status), headers: [.contentType: answer.contentType],
            body: ResponseBody(byteBuffer: ByteBuffer(string: answer.body)))
    }

    private func feed(_ target: String, _ request: Request) -> Response {
        guard let turn = FeedTurn(feeds) else {
            return Self.refusal(.serviceUnavailable, "Too many pages follow the history already; close some of them.")
        }
        if request.method == .head { return Response(status: .ok, headers: [.contentType: "text/event-stream"]) }
        let name = HTTPField.Name("Last-Event-ID")
        let after = name.flatMap { request.headers[$0] } ?? String(target.drop { $0 != "=" }.dropFirst())
        let feed = HistoryFeed(browser, threads, after: Int64(after))
        return Response(
            status: .ok, headers: [.contentType: "text/event-stream"],
            body: ResponseBody { [turn] writer in
                try await feed.write(to: &writer)
                _ = turn
            })
    }

    private static func page(_ status: HTTPResponse.Status, _ text: String) -> Response {
        Response(
            status: status, headers: [.contentType: "text/html; charset=utf-8"], body: ResponseBody(byteBuffer: ByteBuffer(string: text)))
    }

    private static func refusal(_ status: HTTPResponse.Status, _ sentence: String) -> Response {
        Response(
            status: status, headers: [.contentType: "text/plain; charset=utf-8"],
            body: sentence.isEmpty ? ResponseBody() : ResponseBody(byteBuffer: ByteBuffer(string: sentence + "\n")))
    }

    /// Headers of all responses: nothing is kept, nothing is loaded from elsewhere, no other page can show or read this one.
    private static let headers: [(HTTPField.Name, String)] =
        [
            (.cacheControl, "no-store"),
            (.contentSecurityPolicy, policy),
            (.xContentTypeOptions, "nosniff"),
        ]
        + [
            ("Referrer-Policy", "no-referrer"), ("Cross-Origin-Resource-Policy", "same-origin"),
            ("Cross-Origin-Opener-Policy", "same-origin"),
            ("X-Frame-Options", "DENY"),
        ].compactMap { name, value in HTTPField.Name(name).map { ($0, value) } }

    private static let policy =
        "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; connect-src 'self'; form-action 'self'; base-uri 'none'; "
        + "frame-ancestors 'none'"
}

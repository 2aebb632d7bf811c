import Foundation
import PolystoreBrowse
import PolystoreBrowsing
import PolystoreStorage
import Testing

/// What the server answers, to whom, and what it refuses.
@Suite struct ServerTests {
    @Test func theTokenWorksOnceAndGivesTheCookieOfTheSession() async throws {
        try await RunningServer.with { server in
            try server.insert("hello")
            let entrance = try await server.client.get("/?token=\(server.token)")
            #expect(entrance.status == 200)
            let cookie = try #require(entrance.header("Set-Cookie"))
            #expect(cookie.contains("; HttpOnly") && cookie.contains("; SameSite=Strict") && cookie.contains("; Path=/"))
            #expect(!cookie.contains(server.token))
            let page = try await server.client.get("/e/Note", cookie: entrance.cookie)
            #expect(page.status == 200 && page.body.contains("hello"))
            // A second visitor gets nothing, and the first one is led on.
            let second = try await server.client.get("/?token=\(server.token)")
            #expect(second.status == 401 && second.cookie == nil)
            #expect(try await server.client.get("/?token=\(server.token)", cookie: entrance.cookie).status == 200)
        }
    }

    @Test func onlyOneOfManyVisitorsAtOnceGetsTheCookie() async throws {
        try await RunningServer.with { server in
            let cookies = try await withThrowingTaskGroup(of: String?.self) { tasks in
                for _ in 0..<20 { tasks.addTask { try await server.client.get("/?token=\(server.token)").cookie } }
                return try await tasks.reduce(into: []) { $0.append($1) }.compactMap { $0 }
            }
            #expect(cookies.count == 1)
        }
    }

    @Test func loadingAheadAndAskingForTheHeadDoNotUseTheTokenUp() async throws {
        try await RunningServer.with { server in
            #expect(try await server.client.get("/?token=\(server.token)", headers: ["Sec-Purpose: prefetch;prerender"]).cookie == nil)
            #expect(try await server.client.get("/?token=\(server.token)", method: "HEAD").cookie == nil)
            #expect(try await server.client.get("/?token=\(server.token)x").status == 401)
            #expect(try await server.client.get("/?token=").status == 401)
            _ = try await server.enter()
        }
    }

    @Test func requestsWithoutTheCookieAreRefusedWithASentence() async throws {
        try await RunningServer.with { server in
            try server.insert("secret")
            let cookie = try await server.enter(), name = try #require(cookie.split(separator: "=").first)
            for target in ["/", "/e/Note", "/o/Note/1", "/count/Note", "/history", "/history/events", "/style.css", "/nothing"] {
                for other in [nil, "\(name)=", "\(name)=x", "other\(cookie)", "\(cookie)0", "\(name)=\(server.token)"] {
                    let reply = try await server.client.get(target, cookie: other)
                    #expect(reply.status == 401 && reply.body.contains("token that polystore-browse printed"), "\(target) \(other ?? "-")")
                    #expect(!reply.body.contains("secret"))
                }
            }
            #expect(try await server.client.get("/e/Note", cookie: "a=b; \(cookie); c=d").status == 200)
        }
    }

    @Test func requestsThatNameAnotherHostAreRefused() async throws {
        try await RunningServer.with { server in
            let cookie = try await server.enter(), port = server.client.port
            for host in [
                "evil.example", "evil.example:\(port)", "127.0.0.1", "127.0.0.1:\(port + 1)", "localhost", "127.0.0.1:\(port).evil.example",
                "",
            ] {
                let reply = try await server.client.get("/e/Note", cookie: cookie, host: host)
                #expect(reply.status == 403 || host.isEmpty && reply.status == 400, "\(host): \(reply.status)")
            }
            for host in ["localhost:\(port)", "LOCALHOST:\(port)", "[::1]:\(port)"] {
                #expect(try await server.client.get("/e/Note", cookie: cookie, host: host).status == 200, "\(host)")
            }
        }
    }

    @Test func theServerListensOnOneAddressOfThisMachine() async throws {
        try await RunningServer.with { server in
            await #expect(throws: Client.Refused.self) {
                try await server.client.stream("GET / HTTP/1.1\r\n\r\n", address: "127.0.0.2") { _ in true }
            }
        }
    }

    @Test func nothingIsWritten() async throws {
        try await RunningServer.with { server in
            try server.insert("kept")
            let cookie = try await server.enter()
            for method in ["POST", "PUT", "PATCH", "DELETE", "OPTIONS", "TRACE", "CONNECT", "NONSENSE"] {
                let reply = try await server.client.get("/o/Note/1", cookie: cookie, method: method, headers: ["Content-Length: 0"])
                #expect([405, 400, 403].contains(reply.status), "\(method): \(reply.status)")
                if method == "POST" { #expect(reply.status == 405 && reply.header("Allow") == "GET, HEAD") }
            }
            let head = try await server.client.get("/e/Note", cookie: cookie, method: "HEAD")
            #expect(head.status == 200 && head.body.isEmpty)
            #expect(try await server.client.get("/e/Note", cookie: cookie).body.contains("kept"))
        }
    }

    @Test func everyReplyForbidsWhatPagesDoNotNeed() async throws {
        try await RunningServer.with { server in
            let cookie = try await server.enter()
            let replies = [
                try await server.client.get("/", cookie: cookie), try await server.client.get("/x", cookie: cookie),
                try await server.client.get("/"), try await server.client.get("/", host: "x"),
                try await server.client.get("/", method: "POST"),
                try await server.client.get("/script.js", cookie: cookie), try await server.client.get("/?token=x"),
            ]
            for reply in replies {
                let policy = try #require(reply.header("Content-Security-Policy"))
                #expect(policy.hasPrefix("default-src 'none'; script-src 'self'; style-src 'self'") && !policy.contains("unsafe"))
                #expect(policy.contains("frame-ancestors 'none'") && policy.contains("base-uri 'none'"))
                #expect(reply.header("Cache-Control") == "no-store" && reply.header("X-Content-Type-Options") == "nosniff")
                #expect(reply.header("Referrer-Policy") == "no-referrer" && reply.header("Cross-Origin-Resource-Policy") == "same-origin")
            }
        }
    }

    @Test func pagesHaveTheirStatusAndType() async throws {
        try await RunningServer.with { server in
            try server.insert("<i>")
            let cookie = try await server.enter()
            for (target, status, type) in [
                ("/", 200, "text/html; charset=utf-8"), ("/e/Note?where=text+%3D%3D+%27%3Ci%3E%27", 200, "text/html; charset=utf-8"),
                ("/e/Note?where=txt+%3D%3D+1", 400, "text/html; charset=utf-8"), ("/o/Note/9", 404, "text/html; charset=utf-8"),
                ("/count/Note", 200, "text/plain; charset=utf-8"), ("/style.css", 200, "text/css; charset=utf-8"),
                ("/script.js", 200, "text/javascript; charset=utf-8"), ("/icon.svg", 200, "image/svg+xml"),
                ("/schema", 200, "text/html; charset=utf-8"), ("/history", 200, "text/html; charset=utf-8"),
            ] {
                let reply = try await server.client.get(target, cookie: cookie)
                #expect(reply.status == status && reply.header("Content-Type") == type, "\(target): \(reply.status)")
                #expect(!reply.body.contains("<i>"), "\(target)")
            }
        }
    }

    @Test func theHistoryIsSentAsItIsWritten() async throws {
        try await RunningServer.with { server in
            try server.insert("one")
            let cookie = try await server.enter()
            let request = [
                "GET /history/events?after=0 HTTP/1.1", "Host: 127.0.0.1:\(server.client.port)", "Cookie: \(cookie)", "", "",
            ].joined(separator: "\r\n")
            let inserting = Task {
                try await Task.sleep(for: .seconds(1))
                return try server.insert("two", author: "second <author>")
            }
            let events = try await server.client.stream(request) { !$0.contains("second") }
            let key = try await inserting.value
            #expect(events.contains("Content-Type: text/event-stream"))
            #expect(events.contains("event: entry") && events.contains("href=\"/o/Note/1\"") && events.contains("href=\"/o/Note/\(key)\""))
            #expect(events.contains("second &lt;author&gt;"))
            // A browser that connects again names the last event that it has seen.
            let again = request.replacingOccurrences(of: "\r\n\r\n", with: "\r\nLast-Event-ID: 1\r\n\r\n")
            let rest = try await server.client.stream(again) { !$0.contains("second") }
            #expect(!rest.contains("href=\"/o/Note/1\"") && rest.contains("href=\"/o/Note/\(key)\""))
        }
    }

    @Test func pagesThatLeaveMakeRoomForOthers() async throws {
        try await RunningServer.with { server in
            let cookie = try await server.enter()
            let request = "GET /history/events HTTP/1.1\r\nHost: 127.0.0.1:\(server.client.port)\r\nCookie: \(cookie)\r\n\r\n"
            // A visitor who has left is noticed with the next bytes that are written.
            var refused = 0
            for _ in 0..<40 {
                let text = try await server.client.stream(request) { !$0.contains("retry:") && !$0.contains("Too many") }
                if text.contains("503") { refused += 1 }
            }
            #expect(refused > 0)
            for _ in 0..<150 {
                try await Task.sleep(for: .milliseconds(100))
                if try await !server.client.stream(request, while: { !$0.contains("retry:") && !$0.contains("Too many") }).contains("503") {
                    return
                }
            }
            Issue.record("no page can follow the history")
        }
    }

    @Test func aStoreThatFailsIsAPageAndNotTheEndOfTheServer() async throws {
        try await RunningServer.with { server in
            try server.insert("one")
            let cookie = try await server.enter()
            try server.store.close()
            for target in ["/", "/e/Note", "/o/Note/1", "/count/Note", "/history"] {
                let reply = try await server.client.get(target, cookie: cookie)
                #expect(reply.status == 503, "\(target): \(reply.status)")
                #expect(reply.body.contains("The store does not answer") && reply.body.contains("was closed."))
            }
            let request = "GET /history/events HTTP/1.1\r\nHost: 127.0.0.1:\(server.client.port)\r\nCookie: \(cookie)\r\n\r\n"
            let events = try await server.client.stream(request) { !$0.contains("event: trouble") }
            #expect(events.contains("was closed"))
            #expect(try await server.client.get("/schema", cookie: cookie).status == 200)
        }
    }

    @Test func wrongBytesDoNotEndTheServer() async throws {
        try await RunningServer.with { server in
            let cookie = try await server.enter(),
                host = "Host: 127.0.0.1:\(server.client.port)\r\nCookie: \(cookie)\r\nConnection: close\r\n"
            for text in [
                "\u{0}\u{1}\u{2}\r\n\r\n", "GET\r\n\r\n", "GET / HTTP/9.9\r\n\r\n",
                "GET / HTTP/1.1\r\n\(host)X: \(String(repeating: "a", count: 200_000))\r\n\r\n",
                "GET /\(String(repeating: "a", count: 70_000)) HTTP/1.1\r\n\(host)\r\n",
                "POST / HTTP/1.1\r\n\(host)Transfer-Encoding: chunked\r\n\r\nffffffffffffffffff\r\n",
            ] {
                _ = try? await server.client.stream(text, seconds: 2) { _ in true }
            }
            for target in [
                "//", "/?", "/%", "/%zz", "/e/%00", "/e/..%2f..%2fetc%2fpasswd", "/o/Note/-9223372036854775808",
                "/e/Note?at=-9223372036854775808",
                "/e/Note?at=9223372036854775807&after=9223372036854775807", "/e/Note?before=-9223372036854775808", "/e/Note?sort=-",
                "/e/Note?sort=--text",
                "/e/Note?of=Note/1/x", "/e/Note?of=//", "/e/Note?where=\(String(repeating: "%28", count: 5000))", "/history?before=abc",
                "/history/events?after=9223372036854775807x", "/e/Note?where=%ff%fe", "/o/Note/1/text/x", "/e/Note?after=&before=&page=",
            ] {
                let reply = try await server.client.stream("GET \(target) HTTP/1.1\r\n\(host)\r\n") { !$0.contains("retry:") }
                let status = reply.split(separator: " ").dropFirst().first.flatMap { Int($0) } ?? 0
                #expect((200..<500).contains(status), "\(target): \(status)")
            }
            #expect(try await server.client.get("/", cookie: cookie).status == 200)
        }
    }

    /// The test ends only if the server does.
    @Test(.timeLimit(.minutes(1))) func theServerEndsWhilePagesFollowTheHistory() async throws {
        let feed = try await { () -> Task<String, any Error> in
            nonisolated(unsafe) var feed: Task<String, any Error>?
            try await RunningServer.with { server in
                let cookie = try await server.enter()
                let request = "GET /history/events HTTP/1.1\r\nHost: 127.0.0.1:\(server.client.port)\r\nCookie: \(cookie)\r\n\r\n"
                feed = Task { try await server.client.stream(request) { _ in true } }
                try await Task.sleep(for: .seconds(1))
            }
            return try #require(feed)
        }()
        #expect(try await feed.value.contains("retry:"))
    }

    @Test func aPortThatIsInUseIsNamed() async throws {
        try await RunningServer.with { server in
            let second = BrowseServer(StoreBrowser(server.store, name: "x"), port: server.client.port) { _ in }
            let error = await #expect(throws: StorageError.self) { try await second.run() }
            #expect(error?.message.contains("port \(server.client.port)") == true)
            let none = BrowseServer(StoreBrowser(server.store, name: "x"), port: 70_000) { _ in }
            await #expect(throws: StorageError.self) { try await none.run() }
        }
    }
}

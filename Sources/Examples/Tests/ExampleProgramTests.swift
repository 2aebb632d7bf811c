import Foundation
import Testing

@Suite struct ExampleProgramTests {
    @Test(arguments: ["sqlite", "lmdb"]) func aNotebookKeepsNotesWithTags(_ kind: String) throws {
        let folder = try Program.folder()
        defer { try? FileManager.default.removeItem(at: folder) }
        let store = ["NOTEBOOK": "\(kind):\(folder.path)/notes"], notebook = Program("notebook")
        #expect(try notebook.run("add", "Call Ann about the boat", "-t", "calls", "-t", "boat", environment: store).output == "note 1\n")
        #expect(try notebook.run("add", "Paint the boat", "--tag", "boat", environment: store).output == "note 2\n")
        let both = "2  Paint the boat #boat\n1  Call Ann about the boat #boat #calls\n"
        #expect(try notebook.run("list", "--tag", "boat", environment: store).output == both)
        #expect(try notebook.run("list", "--words", "ann", environment: store).output == "1  Call Ann about the boat #boat #calls\n")
        #expect(try notebook.run("remove", "1", environment: store) == .init(code: 0, output: ""))
        #expect(try notebook.run("remove", "1", environment: store).code == 64)
        #expect(try notebook.run("list", environment: store).output == "2  Paint the boat #boat\n")
    }

    /// The job writes what happened while it did not run, once, and follows what comes.
    @Test func aJobFollowsWhatOthersCommit() async throws {
        let folder = try Program.folder()
        defer { try? FileManager.default.removeItem(at: folder) }
        let store = "sqlite:\(folder.path)/shop.db", log = Program("order-log")
        for order in ["7", "8", "7"] { _ = try log.run(store, "--order", order) }
        #expect(try log.run(store, "--once").output == "new 7 by shop\nnew 8 by shop\npaid 7 by shop\n")
        #expect(try log.run(store, "--once").output == "")
        let (follower, output) = try log.start([store])
        defer { follower.terminate() }
        _ = try log.run(store, "--order", "9")
        #expect(String(decoding: output.availableData, as: UTF8.self) == "new 9 by shop\n")
    }

    @Test func aShopMovesToTheNamesAndTypesOfItsSecondVersion() throws {
        let folder = try Program.folder()
        defer { try? FileManager.default.removeItem(at: folder) }
        let database = Program(path: "/usr/bin/sqlite3"), old = "\(folder.path)/old.db", new = "\(folder.path)/new.lmdb"
        let text = "CREATE TABLE Product (id INTEGER PRIMARY KEY, label TEXT NOT NULL, price TEXT NOT NULL);"
        #expect(try database.run(old, text + "INSERT INTO Product (label, price) VALUES ('Tea', '2.50'), ('Cup', 'cheap')").code == 0)
        let move = Program("shop-move"), source = "sqlite:\(old)?catalog=foreign"
        #expect(try move.run(source, "lmdb:\(new)").code != 0)
        let moved = try move.run(source, "lmdb:\(new)2", "--skip")
        #expect(
            moved.code == 0 && moved.output.contains("left out: ") && moved.output.hasSuffix("moved 1 objects and verified them\n"),
            "\(moved)")
    }

    /// The events are read by an independent client while others change the list.
    @Test func aServiceSendsItsListAsEvents() throws {
        let folder = try Program.folder()
        defer { try? FileManager.default.removeItem(at: folder) }
        let (service, output) = try Program("task-service").start(
            [], environment: ["STORE": "sqlite:\(folder.path)/tasks.db", "PORT": "0"])
        defer { service.terminate() }
        let greeting = String(decoding: output.availableData, as: UTF8.self)
        let port = try #require(greeting.split(separator: " ").last?.trimmingCharacters(in: .newlines))
        let client = """
            import http.client, json
            def ask(method, path, body=None):
                connection = http.client.HTTPConnection("127.0.0.1", \(port), timeout=60)
                connection.request(method, path, json.dumps(body) if body else None, {"Content-Type": "application/json"})
                answer = connection.getresponse()
                return answer.status, answer.read().decode()
            connection = http.client.HTTPConnection("127.0.0.1", \(port), timeout=60)
            connection.request("GET", "/items/events")
            events = connection.getresponse()
            def event():
                line = events.readline().decode().strip()
                events.readline()
                return [(item["title"], item["isDone"]) for item in json.loads(line.removeprefix("data: "))]
            print(event())
            status, text = ask("POST", "/items", {"title": "Paint"})
            id = json.loads(text)["id"]
            print(status, event())
            print(ask("PATCH", f"/items/{id}", {"isDone": True})[0], event())
            print(json.loads(ask("GET", "/items")[1]) == [{"id": id, "isDone": True, "title": "Paint"}])
            print(ask("GET", "/health")[0], ask("GET", "/health")[1].startswith("sqlite: "))
            print(ask("DELETE", f"/items/{id}")[0], event(), ask("DELETE", f"/items/{id}")[0], ask("POST", "/items", {"name": "x"})[0])
            """
        let read = try Program(path: "/usr/bin/python3").run("-c", client)
        // It ends when it is asked to, although nobody has ended the events.
        service.terminate()
        service.waitUntilExit()
        #expect(read.output == "[]\n200 [('Paint', False)]\n200 [('Paint', True)]\nTrue\n200 True\n204 [] 404 400\n")
        #expect(service.terminationReason == .exit && service.terminationStatus == 0)
    }
}

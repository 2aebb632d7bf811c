import Foundation
import Hummingbird
import Logging
import Polystore
import PolystoreCatalog

// The environment chooses the store (sqlite:FILE, lmdb:FILE, postgresql://…, memory:) and the port.
let environment = ProcessInfo.processInfo.environment
let stack = try DataStack(Item.self)
try stack.addStorageAndWait(StoreCatalog.standard.store(at: StoreURL(environment["STORE"] ?? "memory:")))

var application = Application(
    router: ItemService(stack).router(),
    configuration: ApplicationConfiguration(address: .hostname("127.0.0.1", port: Int(environment["PORT"] ?? "8080") ?? 8080)),
    onServerRunning: { channel in
        FileHandle.standardOutput.write(Data("listening on port \(channel.localAddress?.port ?? 0)\n".utf8))
    })
application.addServices(StoreService(stack: stack))
try await application.runService()

import Polystore
import ServiceLifecycle

/// A stack among the services of a program. The stores are closed after the services that were added later have ended.
struct StoreService: Service {
    let stack: DataStack

    func run() async throws {
        // A cancelled program closes its stores, too.
        try? await gracefulShutdown()
        try await stack.shutdown(draining: .seconds(10))
    }
}

internal import Logging

/// A logger that reports only what ends the program: the sentences of the command say the rest.
enum QuietLogger {
    static var logger: Logger {
        var logger = Logger(label: "polystore-browse")
        logger.logLevel = .critical
        return logger
    }
}

import Testing

/// Calls of the system that fail under an LMDB store.
@Suite(.serialized) struct LMDBFailingCallTests {
    @Test(
        .enabled(if: FailingCalls.library != nil, "the library that lets calls fail is built with cc on Linux"),
        arguments: FailingCalls.Failure.allCases)
    func everyFailureLeavesWhatWasAcknowledged(_ failure: FailingCalls.Failure) throws {
        try FailingScript("lmdb", failure).check()
    }
}

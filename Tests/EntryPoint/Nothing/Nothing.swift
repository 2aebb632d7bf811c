// SwiftPM looks for the entry point above the folders of test targets: this target has no tests.

enum ContextCases { static let all: [ConformanceCase] = [] }

enum ImportCases { static let all: [ConformanceCase] = [] }

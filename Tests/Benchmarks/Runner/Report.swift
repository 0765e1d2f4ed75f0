import BrokerValues
import Foundation

/// The results, line by line, next to their budgets.
struct Report {
    private struct Line {
        var name: String
        var figure: String
        var value: Double?
        var budget: String
        var isBroken: Bool
    }

    /// It takes minutes: partial results are printed next to the report.
    private var lines: [Line] = [] {
        didSet {
            guard let last = lines.last else { return }
            FileHandle.standardError.write(Data("… \(last.name): \(last.figure)\n".utf8))
        }
    }

    var isBroken: Bool { lines.contains(where: \.isBroken) }

    mutating func note(_ name: String, _ figure: String) {
        lines.append(Line(name: name, figure: figure, value: nil, budget: "", isBroken: false))
    }

    /// - Parameters:
    ///   - value: in the budget's unit.
    ///   - limit: the maximum or minimum of the value.
    mutating func measure(_ name: String, _ figure: String, _ value: Double, atMost limit: Double, _ unit: String) {
        let budget = "at most \(limit.formatted(.number.precision(.fractionLength(0...1)))) \(unit)"
        lines.append(Line(name: name, figure: figure, value: value, budget: budget, isBroken: value > limit))
    }

    mutating func measure(_ name: String, _ figure: String, _ value: Double, atLeast limit: Double, _ unit: String) {
        let budget = "at least \(limit.formatted(.number.precision(.fractionLength(0...2)))) \(unit)"
        lines.append(Line(name: name, figure: figure, value: value, budget: budget, isBroken: value < limit))
    }

    /// The same for programs: an array of objects.
    var json: String {
        let objects = lines.map { line -> JSONValue in
            [
                "name": .string(line.name), "figure": .string(line.figure),
                "value": line.value.map { .number($0) } ?? .null,
                "budget": .string(line.budget), "broken": .bool(line.isBroken),
            ]
        }
        var writer = JSONWriter()
        writer.value(.array(objects), sorted: true)
        return String(decoding: writer.bytes, as: UTF8.self)
    }

    var text: String {
        let width = lines.map(\.name.count).max() ?? 0
        let figures = lines.map(\.figure.count).max() ?? 0
        return lines.map { line in
            let mark = line.budget.isEmpty ? "" : line.isBroken ? "BROKEN  " : "kept    "
            return line.name.padding(toLength: width + 2, withPad: " ", startingAt: 0)
                + line.figure.padding(toLength: figures + 2, withPad: " ", startingAt: 0) + mark + line.budget
        }.joined(separator: "\n")
    }
}

func microseconds(_ value: Double) -> String { String(format: "%.1f µs", value) }
func milliseconds(_ microseconds: Double) -> String { String(format: "%.1f ms", microseconds / 1000) }
func ratio(_ value: Double) -> String { String(format: "%.2f", value) }

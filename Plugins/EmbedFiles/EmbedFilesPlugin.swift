import Foundation
import PackagePlugin

/// Makes a Swift file of files of the repository, so that the binary carries them.
@main
struct EmbedFilesPlugin: BuildToolPlugin {
    func createBuildCommands(context: PluginContext, target: any Target) throws -> [Command] {
        let files = try Self.files(of: target.name, in: context.package.directoryURL)
        let output = context.pluginWorkDirectoryURL.appending(path: "EmbeddedFiles.swift")
        return [
            .buildCommand(
                displayName: "Embedding \(files.map(\.lastPathComponent).joined(separator: ", "))",
                executable: try context.tool(named: "EmbedFiles").url, arguments: [output.path] + files.map(\.path),
                inputFiles: files, outputFiles: [output]
            )
        ]
    }

    /// What a target carries.
    private static func files(of target: String, in repository: URL) throws -> [URL] {
        switch target {
        case "PolicyStore":
            return try files("Migrations", endings: ["sql"], in: repository)
        case "PolicyPages":
            return try files("Sources/PolicyPages/Assets", endings: ["css", "js", "svg"], in: repository)
                + files("Sources/PolicyPages/Templates", endings: ["mustache"], in: repository)
        case "PolicyServer":
            return try files("Documentation", endings: ["yaml"], in: repository)
        default:
            throw NothingToEmbed(target: target)
        }
    }

    /// The files of a folder with these endings, by name.
    private static func files(_ folder: String, endings: Set<String>, in repository: URL) throws -> [URL] {
        let files = try FileManager.default.contentsOfDirectory(
            at: repository.appending(path: folder),
            includingPropertiesForKeys: nil
        )
        let found = files.filter { endings.contains($0.pathExtension) }
            .sorted { $0.lastPathComponent < $1.lastPathComponent }
        guard !found.isEmpty else { throw NothingToEmbed(target: folder) }
        return found
    }
}

/// There is no file to embed, which is never meant.
struct NothingToEmbed: Error, CustomStringConvertible {
    let target: String

    var description: String { "\(target) has no files to embed; EmbedFilesPlugin says which ones a target carries" }
}

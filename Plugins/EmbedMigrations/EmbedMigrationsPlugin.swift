// SPDX-License-Identifier: Apache-2.0
// Copyright the versiongate authors

import Foundation
import PackagePlugin

/// Makes a Swift file of the SQL files in `Migrations/`, so that the binary carries them.
@main
struct EmbedMigrationsPlugin: BuildToolPlugin {
    func createBuildCommands(context: PluginContext, target: any Target) throws -> [Command] {
        let folder = context.package.directoryURL.appending(path: "Migrations")
        let migrations = try FileManager.default.contentsOfDirectory(at: folder, includingPropertiesForKeys: nil)
            .filter { $0.pathExtension == "sql" }
            .sorted { $0.lastPathComponent < $1.lastPathComponent }
        guard !migrations.isEmpty else {
            throw MigrationsMissing(folder: folder.path)
        }
        let output = context.pluginWorkDirectoryURL.appending(path: "EmbeddedMigrations.swift")
        return [
            .buildCommand(
                displayName: "Embedding the migrations",
                executable: try context.tool(named: "EmbedMigrations").url,
                arguments: [output.path] + migrations.map(\.path),
                inputFiles: migrations,
                outputFiles: [output]
            )
        ]
    }
}

/// There is no SQL file to embed, which is never meant.
struct MigrationsMissing: Error, CustomStringConvertible {
    let folder: String

    var description: String { "no .sql file is in \(folder); the binary needs the migrations" }
}

public import Foundation

/// The files of this repository.
public enum RepositoryFile {
    /// Where a file is, by its path from the root.
    public static func url(_ path: String) -> URL {
        URL(filePath: #filePath).appending(path: "../../../..").standardizedFileURL.appending(path: path)
    }
}

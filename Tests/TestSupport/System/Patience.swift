/// How long tests wait for something that must come.
///
/// The bound only ends what hangs. A wait ends as soon as what it waits for is there, so a machine that is busy makes a test
/// slower and never makes it fail.
public enum Patience {
    /// The bound in seconds.
    public static let seconds = 1200
    /// The bound.
    public static let limit = Duration.seconds(seconds)
}

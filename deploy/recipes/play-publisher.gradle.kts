// Gradle Play Publisher: `./gradlew recordRelease` publishes the bundle and records the release. Run again, it changes
// nothing. Put it into the build.gradle.kts of the app; the versiongate that runs here gets its database from
// DATABASE_URL, with a user of the role admin. --min-os is the Android that minSdk stands for: 8 for 26.

tasks.register<Exec>("recordRelease") {
    group = "publishing"
    description = "Records the published release in versiongate."
    dependsOn("publishReleaseBundle")
    val release = android.defaultConfig
    commandLine(
        "versiongate", "release", "add", release.applicationId, release.versionName,
        "--platform", "android", "--build", "${release.versionCode}", "--min-os", "8", "--staged",
        "--if-absent", "--yes",
    )
}

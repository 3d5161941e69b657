// Gradle Play Publisher: `./gradlew recordRelease` publishes the bundle and records the release. Run again, it changes
// nothing. Put it into the build.gradle.kts of the app. VERSIONGATE_TOKEN is from `versiongate token add`, VERSIONGATE_URL the
// address of a server with --release-tokens. min_os is the Android that minSdk stands for: 8 for 26.

tasks.register<Exec>("recordRelease") {
    group = "publishing"
    description = "Records the published release in versiongate."
    dependsOn("publishReleaseBundle")
    val release = android.defaultConfig
    val (url, token) = listOf(System.getenv("VERSIONGATE_URL"), System.getenv("VERSIONGATE_TOKEN"))
    commandLine(
        "curl", "--silent", "--show-error", "--fail-with-body", "--retry", "5", "$url/v1/releases",
        "--header", "Authorization: Bearer $token",
        "--data", """{"bundle": "${release.applicationId}", "version": "${release.versionName}", "platform": "android",
            "build": "${release.versionCode}", "min_os": "8", "staged": true}""",
    )
}

package dev.versiongate

import java.util.concurrent.Executor
import kotlin.coroutines.resume
import kotlinx.coroutines.suspendCancellableCoroutine

/** The messages to show now, in their order. Suspends for at most 2 seconds, blocks no thread, and never throws. */
public suspend fun VersionGate.messages(force: Boolean = false): List<VersionGate.Message> =
    suspendCancellableCoroutine { waiting -> check(force, Executor { it.run() }) { waiting.resume(it) } }

package dev.versiongate

import java.util.concurrent.Executor
import kotlin.coroutines.resume
import kotlinx.coroutines.suspendCancellableCoroutine

/**
 * The messages to show now, in their order: of a manual check if [manual], or of a usual one. Suspends for at most 2 seconds,
 * blocks no thread, and never throws.
 */
public suspend fun VersionGate.messages(force: Boolean = false, manual: Boolean = false): List<VersionGate.Message> =
    suspendCancellableCoroutine { waiting ->
        val callback = VersionGate.Callback { waiting.resume(it) }
        if (manual) checkManually(Executor { it.run() }, callback) else check(force, Executor { it.run() }, callback)
    }

import dev.versiongate.VersionGate
import dev.versiongate.messages
import kotlinx.coroutines.flow.MutableStateFlow

class MessagesModel(private val gate: VersionGate) {
    val waiting = MutableStateFlow(emptyList<VersionGate.Message>())
    val lockout = MutableStateFlow<VersionGate.Message?>(null)

    /** In onStart of each activity, and with force by "Try again". */
    suspend fun check(force: Boolean = false) {
        val messages = gate.messages(force || lockout.value != null)
        lockout.value = messages.find { it.lockout }
        waiting.value += messages.filterNot { new -> new.lockout || waiting.value.any { it.id == new.id } }
    }

    /** closed(message, message::dismiss), or message::skip, or message::opened. */
    fun closed(message: VersionGate.Message, tell: () -> Unit) {
        tell()
        waiting.value -= message
    }
}

import dev.versiongate.VersionGate
import dev.versiongate.messages
import kotlinx.coroutines.runBlocking
import java.io.File

/** A whole program, which keeps its text in a file. */
fun main() = runBlocking {
    val file = File(System.getProperty("user.home"), ".doto.json")
    val storage = object : VersionGate.Storage {
        override fun read() = file.takeIf { it.exists() }?.readText()
        override fun write(text: String?) = if (text == null) file.delete().let {} else file.writeText(text)
    }
    val gate = VersionGate.Builder("https://gate.example.com", "com.example.doto", storage)
        .version("1.0").platform("linux").build()
    for (message in gate.messages()) println("${message.title}: ${message.text}")
    gate.finishWriting()
}

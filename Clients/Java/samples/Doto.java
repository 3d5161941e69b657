import dev.versiongate.VersionGate;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.*;

class Doto {
    public static void main(String[] arguments) {
        VersionGate gate = new VersionGate.Builder("https://gate.example.com", "com.example.doto", new FileStorage())
            .version("1.0").buildNumber("42").platform("linux").os(System.getProperty("os.version")).build();
        for (VersionGate.Message message : gate.check()) {
            System.out.println(message.title + ": " + message.text + (message.link == null ? "" : " " + message.link));
        }
        gate.finishWriting();
    }

    static final class FileStorage implements VersionGate.Storage {
        private final Path file = Paths.get(System.getProperty("user.home"), ".doto", VersionGate.NAME);

        @Override
        public String read() throws IOException {
            return Files.exists(file) ? new String(Files.readAllBytes(file), StandardCharsets.UTF_8) : null;
        }

        @Override
        public void write(String text) throws IOException {
            if (text == null) {
                Files.deleteIfExists(file);
                return;
            }
            Path whole = file.resolveSibling(VersionGate.NAME + ".new");
            Files.createDirectories(file.getParent());
            Files.write(whole, text.getBytes(StandardCharsets.UTF_8));
            Files.move(whole, file, StandardCopyOption.REPLACE_EXISTING);
        }
    }
}

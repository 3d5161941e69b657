package dev.versiongate;

import static dev.versiongate.Tests.expect;
import static dev.versiongate.Tests.test;

import java.io.ByteArrayOutputStream;
import java.io.Closeable;
import java.io.File;
import java.io.FileInputStream;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.nio.channels.SocketChannel;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.KeyStore;
import java.security.cert.Certificate;
import java.security.cert.CertificateFactory;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collections;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.FutureTask;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;
import javax.net.ssl.HttpsURLConnection;
import javax.net.ssl.KeyManagerFactory;
import javax.net.ssl.SSLContext;
import javax.net.ssl.SSLSocketFactory;
import javax.net.ssl.TrustManagerFactory;

/** The library's own transport, with real sockets and what can go wrong on them. */
final class NetworkTests {
    private static final String NEWS = "{\"messages\": [{\"id\": \"news\", \"title\": \"T\", \"text\": \"T\"}]}";
    private static final String LOCKOUT = NEWS.replace("news", "blocked").replace("\"T\"}", "\"T\", \"lockout\": true}");
    private static final String PORTAL = "<html><body>{\"messages\": []}</body></html>";
    /** Far more than a check may take, and far less than what it waits for. */
    private static final long PATIENCE = 20;
    private static final char[] PASSWORD = "password".toCharArray();

    private static final VersionGate.Storage NONE = new VersionGate.Storage() {
        @Override
        public String read() {
            return null;
        }

        @Override
        public void write(String text) {}
    };

    private NetworkTests() {}

    static void run() throws Exception {
        test("an answer", () -> answered(socket -> send(socket, head(200, NEWS.length()) + NEWS)));
        test("an answer in chunks", () -> answered(socket -> {
            send(socket, "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n8\r\n" + NEWS.substring(0, 8) + "\r\n");
            send(socket, Integer.toHexString(NEWS.length() - 8) + "\r\n" + NEWS.substring(8) + "\r\n0\r\n\r\n");
        }));
        test("an answer that ends with the connection", () -> answered(socket -> {
            send(socket, "HTTP/1.0 200 OK\r\n\r\n" + NEWS);
            socket.close();
        }));
        test("an answer of 1 MiB", () -> answered(socket -> send(socket, head(200, 1 << 20) + padded(1 << 20))));
        test("what is sent", NetworkTests::question);

        test("an answer of more than 1 MiB", () -> failed(socket -> {
            send(socket, head(200, (1 << 20) + 1) + padded((1 << 20) + 1));
        }));
        test("an answer without an end", NetworkTests::withoutEnd);
        test("a captive portal", () -> failed(socket -> send(socket, head(200, PORTAL.length()) + PORTAL)));
        test("half an answer", () -> failed(socket -> {
            send(socket, head(200, NEWS.length()) + NEWS.substring(0, NEWS.length() / 2));
            socket.close();
        }));
        for (int status : new int[] {201, 204, 400, 401, 403, 404, 407, 413, 429, 500, 502, 503}) {
            test("status " + status, () -> failed(socket -> {
                String body = status == 204 ? "" : NEWS;
                send(socket, head(status, body.length()).replace("Content-Length",
                    "WWW-Authenticate: Basic realm=\"x\"\r\nProxy-Authenticate: Basic realm=\"x\"\r\nContent-Length") + body);
            }));
        }
        for (int status : new int[] {301, 302, 303, 307, 308}) {
            test("redirect " + status, () -> redirect(status));
        }
        test("a connection that is closed at once", () -> failed(Socket::close));
        test("a connection that is reset before the answer", () -> failed(NetworkTests::reset));
        test("a connection that is reset in the answer", () -> failed(socket -> {
            send(socket, head(200, NEWS.length()) + NEWS.substring(0, 20));
            reset(socket);
        }));
        test("another protocol", () -> failed(socket -> send(socket, "SSH-2.0-OpenSSH_9.2\r\n")));
        test("TLS at a server without it", () -> {
            try (Listener listener = new Listener(null, socket -> send(socket, head(200, NEWS.length()) + NEWS))) {
                fails("https://127.0.0.1:" + listener.port());
            }
        });

        test("a server that stalls before its answer", () -> failed(NetworkTests::stall));
        test("a server that stalls in the header", () -> failed(socket -> {
            send(socket, "HTTP/1.1 200 OK\r\nContent-");
            stall(socket);
        }));
        test("a server that stalls in the body", () -> failed(socket -> {
            send(socket, head(200, NEWS.length() + 1) + NEWS);
            stall(socket);
        }));
        test("a header that drips", () -> failed(socket -> drip(socket, "HTTP/1.1 200 OK\r\nX: ")));
        test("questions that hang hold the next one not back", NetworkTests::manyThatHang);
        test("chunks that drip", () -> failed(socket -> drip(socket, "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\n")));
        test("headers without an end", () -> endless("HTTP/1.1 200 OK\r\n", "X: aaaa\r\n"));
        test("one header without an end", () -> endless("HTTP/1.1 200 OK\r\nX: ", "aaaaaaaa"));
        for (String begun : new String[] {"", "2\r\n{}\r\n", "1\r\n{\r\n", "5\r\n{\"mes\r\n"}) {
            String head = "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n" + begun + "0\r\n";
            test("trailers without an end behind " + begun.trim(), () -> endless(head, "X: aaaa\r\n"));
            test("one trailer without an end behind " + begun.trim(), () -> endless(head + "X: ", "aaaaaaaa"));
        }
        test("an encoding that was not asked for", () -> failed(socket -> {
            send(socket, head(200, NEWS.length()).replace("Content-Type", "Content-Encoding: gzip\r\nContent-Type") + NEWS);
        }));
        test("the encoding that was asked for", () -> answered(socket -> {
            send(socket, head(200, NEWS.length()).replace("Content-Type", "Content-Encoding: Identity\r\nContent-Type") + NEWS);
        }));
        test("a whole answer that ends before its length", () -> failed(socket -> {
            send(socket, head(200, NEWS.length() + 1) + NEWS);
            socket.close();
        }));
        test("a body that drips", () -> failed(socket -> drip(socket, head(200, 1 << 20) + NEWS)));
        test("a server that stalls when TLS begins", () -> {
            try (Listener listener = new Listener(null, NetworkTests::stall)) {
                fails("https://127.0.0.1:" + listener.port());
            }
        });
        test("a server that does not accept", NetworkTests::doesNotAccept);
        test("a server that is away", () -> {
            Listener listener = new Listener(null, socket -> {});
            listener.close();
            fails("http://127.0.0.1:" + listener.port());
        });
        test("a name that does not exist", () -> fails("http://gate.invalid"));
        test("certificates", NetworkTests::certificates);
    }

    interface Handler {
        void handle(Socket socket) throws Exception;
    }

    /** Reads a request from each connection, and lets the handler answer. */
    private static final class Listener implements Closeable {
        final List<String> requests = Collections.synchronizedList(new ArrayList<>());
        private final ServerSocket server;
        private final List<Socket> sockets = Collections.synchronizedList(new ArrayList<>());

        Listener(SSLContext tls, Handler handler) throws IOException {
            InetAddress address = InetAddress.getByName("127.0.0.1");
            server = tls == null ? new ServerSocket(0, 50, address)
                : tls.getServerSocketFactory().createServerSocket(0, 50, address);
            thread(() -> {
                while (true) {
                    Socket socket = server.accept();
                    sockets.add(socket);
                    thread(() -> {
                        requests.add(request(socket.getInputStream()));
                        handler.handle(socket);
                    });
                }
            });
        }

        int port() {
            return server.getLocalPort();
        }

        @Override
        public void close() throws IOException {
            server.close();
            synchronized (sockets) {
                for (Socket socket : sockets) {
                    socket.close();
                }
            }
        }

        private static void thread(Tests.Test work) {
            Thread thread = new Thread(() -> {
                try {
                    work.run();
                } catch (Exception error) {
                    // The connection or the listener has been closed.
                }
            });
            thread.setDaemon(true);
            thread.start();
        }

        private static String request(InputStream in) throws IOException {
            ByteArrayOutputStream read = new ByteArrayOutputStream();
            int length = -1;
            for (int next = in.read(); next >= 0; next = in.read()) {
                read.write(next);
                if (length < 0 && read.toString("UTF-8").endsWith("\r\n\r\n")) {
                    String head = read.toString("UTF-8");
                    length = read.size() + Integer.parseInt(head.replaceAll("(?is).*\r\ncontent-length: *([0-9]+)\r\n.*", "$1"));
                }
                if (read.size() == length) {
                    break;
                }
            }
            return read.toString("UTF-8");
        }
    }

    private static void send(Socket socket, String text) throws IOException {
        OutputStream out = socket.getOutputStream();
        out.write(text.getBytes(StandardCharsets.UTF_8));
        out.flush();
    }

    private static String head(int status, int length) {
        return "HTTP/1.1 " + status + " X\r\nContent-Type: application/json\r\nContent-Length: " + length + "\r\n\r\n";
    }

    /** A valid answer, made longer with blanks. */
    private static String padded(int length) {
        byte[] text = Arrays.copyOf(NEWS.getBytes(StandardCharsets.US_ASCII), length);
        Arrays.fill(text, NEWS.length(), length, (byte) ' ');
        return new String(text, StandardCharsets.US_ASCII);
    }

    private static void reset(Socket socket) throws IOException {
        socket.setSoLinger(true, 0);
        socket.close();
    }

    /** Until the test ends. */
    private static void stall(Socket socket) throws Exception {
        new CountDownLatch(1).await();
    }

    private static void drip(Socket socket, String text) throws Exception {
        send(socket, text);
        while (true) {
            Thread.sleep(100);
            send(socket, " ");
        }
    }

    private static VersionGate gate(String server, VersionGate.Storage storage) {
        return new VersionGate.Builder(server, "com.example.doto", storage).version("1.0").build();
    }

    /** The ids that a check gives while a lockout is kept, which shows if the check fails. */
    private static String check(String server) throws Exception {
        String[] text = new String[1];
        VersionGate.Storage storage = new VersionGate.Storage() {
            @Override
            public String read() {
                return text[0];
            }

            @Override
            public void write(String newText) {
                text[0] = newText;
            }
        };
        VersionGate locked = new VersionGate.Builder(server, "com.example.doto", storage).version("1.0")
            .transport((address, body) -> new VersionGate.Answer(200, LOCKOUT.getBytes(StandardCharsets.UTF_8))).build();
        locked.check();
        locked.finishWriting();
        FutureTask<List<VersionGate.Message>> check = new FutureTask<>(() -> gate(server, storage).check());
        Thread thread = new Thread(check);
        thread.setDaemon(true);
        thread.start();
        StringBuilder ids = new StringBuilder();
        for (VersionGate.Message message : check.get(PATIENCE, TimeUnit.SECONDS)) {
            ids.append(message.id);
        }
        return ids.toString();
    }

    /** The check fails, and the thread that asked ends. */
    private static void fails(String server) throws Exception {
        expect(check(server), "blocked");
        long start = System.nanoTime();
        for (Thread thread : Thread.getAllStackTraces().keySet()) {
            while (thread.getName().equals(VersionGate.NAME) && thread.isAlive()) {
                expect(System.nanoTime() - start < TimeUnit.SECONDS.toNanos(PATIENCE), "the thread that asked goes on");
                Thread.sleep(1);
            }
        }
    }

    private static void answered(Handler handler) throws Exception {
        try (Listener listener = new Listener(null, handler)) {
            expect(check("http://127.0.0.1:" + listener.port()), "news");
            expect(listener.requests.size(), 1);
        }
    }

    private static void failed(Handler handler) throws Exception {
        try (Listener listener = new Listener(null, handler)) {
            fails("http://127.0.0.1:" + listener.port());
            expect(listener.requests.size(), 1);
        }
    }

    /** The thread that asked ends soon after its time, and has taken little of what goes on for ever. */
    private static void endless(String head, String part) throws Exception {
        AtomicLong sent = new AtomicLong();
        StringBuilder parts = new StringBuilder();
        while (parts.length() < 1 << 16) {
            parts.append(part);
        }
        failed(socket -> {
            send(socket, head);
            while (true) {
                send(socket, parts.toString());
                sent.addAndGet(parts.length());
            }
        });
        expect(sent.get() < 64 << 20, sent + " bytes were taken");
    }

    private static void manyThatHang() throws Exception {
        try (Listener listener = new Listener(null, socket -> drip(socket, "HTTP/1.1 200 OK\r\nX: "))) {
            List<Thread> threads = new ArrayList<>();
            for (int count = 0; count < 8; count++) {
                threads.add(new Thread(() -> gate("http://127.0.0.1:" + listener.port(), NONE).check()));
            }
            for (Thread thread : threads) {
                thread.start();
            }
            for (Thread thread : threads) {
                thread.join();
            }
        }
        answered(socket -> send(socket, head(200, NEWS.length()) + NEWS));
    }

    /** No more than what is allowed is read, and what the system has read ahead. */
    private static void withoutEnd() throws Exception {
        AtomicLong sent = new AtomicLong();
        String blanks = padded(1 << 17).substring(1 << 16);
        failed(socket -> {
            send(socket, "HTTP/1.1 200 OK\r\n\r\n" + NEWS);
            while (true) {
                send(socket, blanks);
                sent.addAndGet(blanks.length());
            }
        });
        expect(sent.get() < 16 << 20, sent + " bytes were taken");
    }

    private static void question() throws Exception {
        try (Listener listener = new Listener(null, socket -> send(socket, head(200, NEWS.length()) + NEWS))) {
            new VersionGate.Builder("http://127.0.0.1:" + listener.port() + "/gate/", "com.example.doto", NONE).version("1.0")
                .attribute("team", "Zo\u00eb \ud83d\ude00").build().check();
            String request = listener.requests.get(0);
            List<String> lines = Arrays.asList(request.split("\r\n"));
            expect(lines.get(0), "POST /gate/v1/check HTTP/1.1");
            expect(lines.contains("Content-Type: application/json"), request);
            expect(lines.contains("User-Agent: versiongate"), request);
            String body = request.substring(request.indexOf("\r\n\r\n") + 4);
            expect(body.replaceAll("[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}", "*"), "{\"bundle\":\"com.example.doto\","
                + "\"version\":\"1.0\",\"install\":\"*\",\"team\":\"Zo\u00eb \ud83d\ude00\"}");
        }
    }

    private static void redirect(int status) throws Exception {
        try (Listener other = new Listener(null, socket -> send(socket, head(200, NEWS.length()) + NEWS))) {
            failed(socket -> send(socket, head(status, NEWS.length()).replace("Content-Type",
                "Location: http://127.0.0.1:" + other.port() + "/v1/check\r\nContent-Type") + NEWS));
            expect(other.requests.size(), 0);
        }
    }

    /** A socket whose queue is full drops what comes: to connect takes until the one who connects gives up. */
    private static void doesNotAccept() throws Exception {
        List<SocketChannel> queue = new ArrayList<>();
        try (ServerSocket server = new ServerSocket(0, 1, InetAddress.getByName("127.0.0.1"))) {
            for (int count = 0; count < 10; count++) {
                SocketChannel channel = SocketChannel.open();
                channel.configureBlocking(false);
                channel.connect(new InetSocketAddress("127.0.0.1", server.getLocalPort()));
                queue.add(channel);
            }
            expect(!queue.get(9).finishConnect(), "the queue is not full");
            fails("http://127.0.0.1:" + server.getLocalPort());
        } finally {
            for (SocketChannel channel : queue) {
                channel.close();
            }
        }
    }

    private static void certificates() throws Exception {
        Path folder = Files.createTempDirectory("versiongate-certificates");
        SSLSocketFactory before = HttpsURLConnection.getDefaultSSLSocketFactory();
        try {
            keytool(folder, "-genkeypair", "-alias", "authority", "-dname", "CN=authority", "-ext", "bc:critical",
                "-keyalg", "EC");
            keytool(folder, "-genkeypair", "-alias", "server", "-dname", "CN=server", "-keyalg", "EC");
            keytool(folder, "-certreq", "-alias", "server", "-file", "server.csr");
            KeyStore keys = store();
            try (InputStream in = new FileInputStream(folder.resolve("keys.p12").toFile())) {
                keys.load(in, PASSWORD);
            }
            KeyStore trusted = store();
            trusted.setCertificateEntry("authority", keys.getCertificate("authority"));
            TrustManagerFactory trust = TrustManagerFactory.getInstance(TrustManagerFactory.getDefaultAlgorithm());
            trust.init(trusted);
            SSLContext client = SSLContext.getInstance("TLS");
            client.init(null, trust.getTrustManagers(), null);
            expect(checkWithCertificate(folder, keys, "ip:127.0.0.1", "-1d"), "blocked");
            HttpsURLConnection.setDefaultSSLSocketFactory(client.getSocketFactory());
            expect(checkWithCertificate(folder, keys, "ip:127.0.0.1", "-1d"), "news");
            expect(checkWithCertificate(folder, keys, "ip:127.0.0.1", "-20d"), "blocked");
            expect(checkWithCertificate(folder, keys, "ip:127.0.0.1", "+2d"), "blocked");
            expect(checkWithCertificate(folder, keys, "dns:gate.example.com", "-1d"), "blocked");
        } finally {
            HttpsURLConnection.setDefaultSSLSocketFactory(before);
            for (File file : folder.toFile().listFiles()) {
                file.delete();
            }
            Files.delete(folder);
        }
    }

    /** The certificate of the server is for this name, and good for ten days from the start. */
    private static String checkWithCertificate(Path folder, KeyStore keys, String name, String start) throws Exception {
        keytool(folder, "-gencert", "-alias", "authority", "-infile", "server.csr", "-outfile", "server.der",
            "-ext", "san=" + name, "-startdate", start, "-validity", "10");
        KeyStore own = store();
        try (InputStream in = new FileInputStream(folder.resolve("server.der").toFile())) {
            Certificate certificate = CertificateFactory.getInstance("X.509").generateCertificate(in);
            own.setKeyEntry("server", keys.getKey("server", PASSWORD), PASSWORD,
                new Certificate[] {certificate, keys.getCertificate("authority")});
        }
        KeyManagerFactory managers = KeyManagerFactory.getInstance(KeyManagerFactory.getDefaultAlgorithm());
        managers.init(own, PASSWORD);
        SSLContext server = SSLContext.getInstance("TLS");
        server.init(managers.getKeyManagers(), null, null);
        try (Listener listener = new Listener(server, socket -> send(socket, head(200, NEWS.length()) + NEWS))) {
            return check("https://127.0.0.1:" + listener.port());
        }
    }

    private static KeyStore store() throws Exception {
        KeyStore store = KeyStore.getInstance("PKCS12");
        store.load(null, PASSWORD);
        return store;
    }

    private static void keytool(Path folder, String... arguments) throws Exception {
        List<String> command = new ArrayList<>();
        command.add(System.getProperty("java.home") + "/bin/keytool");
        command.addAll(Arrays.asList(arguments));
        command.addAll(Arrays.asList("-keystore", "keys.p12", "-storetype", "PKCS12", "-storepass", new String(PASSWORD)));
        File log = folder.resolve("log").toFile();
        Process process = new ProcessBuilder(command).directory(folder.toFile()).redirectErrorStream(true)
            .redirectOutput(log).start();
        expect(process.waitFor() == 0, command + ": " + new String(Files.readAllBytes(log.toPath()), StandardCharsets.UTF_8));
    }
}

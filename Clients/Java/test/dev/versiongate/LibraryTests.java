package dev.versiongate;

import static dev.versiongate.Tests.expect;
import static dev.versiongate.Tests.test;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collections;
import java.util.List;
import java.util.Random;
import java.util.concurrent.Callable;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.FutureTask;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicReference;
import org.json.JSONObject;

/** What scenarios cannot say: wrong use, faults of what the app gives, threads, and JSON to the letter. */
final class LibraryTests {
    private static final String SERVER = "https://gate.example.com";
    private static final String LOCKOUT = "{\"id\": \"blocked\", \"title\": \"T\", \"text\": \"T\", \"lockout\": true}";
    private static final String NEWS = "{\"id\": \"news\", \"title\": \"T\", \"text\": \"T\", \"shows\": 9, \"skip\": true}";
    /** Far more than a check may take, and far less than what it waits for. */
    private static final long PATIENCE = 300;

    private LibraryTests() {}

    static void run() {
        test("wrong arguments", LibraryTests::wrongArguments);
        test("addresses of servers", LibraryTests::addresses);
        test("messages that say the same", LibraryTests::equalMessages);
        test("messages that no server sent", LibraryTests::ownMessages);
        test("previews that are refused", LibraryTests::previewsRefused);
        test("attributes that are numbers", LibraryTests::numbers);
        test("answers that are JSON", LibraryTests::json);
        test("text that goes through the storage", LibraryTests::textThroughStorage);
        test("a kept lockout that is none", LibraryTests::keptMessage);
        test("a kept message that was never shown", LibraryTests::keptWithoutShowing);
        test("bodies of changed bytes", LibraryTests::changedBytes);
        test("storage that fails", LibraryTests::storageFails);
        test("storage that hangs when it is read", LibraryTests::readingHangs);
        test("storage that hangs when it is written", LibraryTests::writingHangs);
        test("a transport that fails", LibraryTests::transportFails);
        test("a clock that fails", LibraryTests::clockFails);
        test("what the observer is told", LibraryTests::observer);
        test("an observer that fails", LibraryTests::observerFails);
        test("the console of a debug build", LibraryTests::console);
        test("a transport that hangs", LibraryTests::transportHangs);
        test("an answer that comes after the check has ended", LibraryTests::lateAnswer);
        test("questions under way are 8 at most, and those that hang do not count", LibraryTests::boundedQuestions);
        test("a caller who is interrupted", LibraryTests::interruptedCaller);
        test("checks in the background", LibraryTests::background);
        test("forget during a question", LibraryTests::forgetDuringQuestion);
        test("forget during a question that fails", LibraryTests::forgetDuringFailingQuestion);
        test("forget during a question, and ask another one", LibraryTests::forgetAndAsk);
        test("all methods at the same time", LibraryTests::allAtOnce);
    }

    /** Storage in memory. */
    private static final class Memory implements VersionGate.Storage {
        volatile String text;

        @Override
        public String read() {
            return text;
        }

        @Override
        public void write(String text) {
            this.text = text;
        }
    }

    private static VersionGate.Answer answer(String... messages) {
        return body("{\"messages\": [" + String.join(",", messages) + "]}");
    }

    private static VersionGate.Answer body(String text) {
        return new VersionGate.Answer(200, text.getBytes(StandardCharsets.UTF_8));
    }

    private static VersionGate gate(VersionGate.Storage storage, VersionGate.Transport transport) {
        return new VersionGate.Builder(SERVER, "com.example.doto", storage).version("1.0").transport(transport).build();
    }

    /** Storage with a lockout, which a check shows that fails. */
    private static Memory lockedOut() {
        Memory storage = new Memory();
        expect(ids(checked(gate(storage, (address, body) -> answer(LOCKOUT)))), "[blocked]");
        return storage;
    }

    /** What a check gives, once all of it is written. */
    private static List<VersionGate.Message> checked(VersionGate gate) {
        List<VersionGate.Message> messages = gate.check();
        gate.finishWriting();
        return messages;
    }

    private static String ids(List<VersionGate.Message> messages) {
        List<String> ids = new ArrayList<>();
        for (VersionGate.Message message : messages) {
            ids.add(message.id);
        }
        return ids.toString();
    }

    private static void refused(String part, Callable<?> call) throws Exception {
        try {
            call.call();
        } catch (IllegalArgumentException error) {
            expect(error.getMessage().contains(part), "the error for " + part + " says " + error.getMessage());
            return;
        }
        throw new AssertionError("no error: " + part);
    }

    private static void equalMessages() throws Exception {
        VersionGate.Message one = gate(new Memory(), (address, body) -> answer(NEWS)).check().get(0);
        VersionGate.Message same = gate(new Memory(), (address, body) -> answer(NEWS)).check().get(0);
        expect(one, same);
        expect(one.hashCode(), same.hashCode());
        expect(one.toString(), "message news: T");
        for (String other : new String[] {NEWS.replace("9", "8"), NEWS.replace("\"T\"", "\"U\""), LOCKOUT}) {
            expect(!one.equals(gate(new Memory(), (address, body) -> answer(other)).check().get(0)), "equal to " + other);
        }
        expect(!one.equals(null) && !one.equals((Object) "news"), "equal to no message");
    }

    private static void ownMessages() throws Exception {
        String link = "https://example.com/update";
        VersionGate.Message message = new VersionGate.Message("news", "Title", "Text", link, false, true);
        message.dismiss();
        message.skip();
        expect(message.opened(), link);
        expect(message.skippable && !message.lockout, "another message");
        VersionGate.Message lockout = new VersionGate.Message("blocked", "T", "T", "javascript:alert(1)", true, true);
        expect(lockout.link == null && lockout.lockout && !lockout.skippable, "another lockout");
        expect(lockout.toString(), "lockout blocked: T");
        refused("not there", () -> new VersionGate.Message("news", null, "T", null, false, false));
    }

    private static void previewsRefused() throws Exception {
        refused("the preview is missing: give {", () -> VersionGate.preview(null));
        refused("no answer: the answer is no JSON; give {", () -> VersionGate.preview("{"));
        refused("no list of messages", () -> VersionGate.preview("[]"));
        refused("message 2 of the preview cannot be read", () -> VersionGate.preview("{\"messages\":[" + NEWS + ",{\"id\":1}]}"));
    }

    private static void wrongArguments() throws Exception {
        Memory storage = new Memory();
        String bundle = "com.example.doto";
        refused("server is missing", () -> new VersionGate.Builder(null, bundle, storage));
        refused("server is gate.example.com", () -> new VersionGate.Builder("gate.example.com", bundle, storage));
        refused("scheme is not https", () -> new VersionGate.Builder("ftp://gate.example.com", bundle, storage));
        refused("no host", () -> new VersionGate.Builder("https:///x", bundle, storage));
        refused("server is https://a b", () -> new VersionGate.Builder("https://a b", bundle, storage));
        refused("more than a host", () -> new VersionGate.Builder("https://gate.example.com/?a=b", bundle, storage));
        refused("more than a host", () -> new VersionGate.Builder("https://gate.example.com/#a", bundle, storage));
        refused("more than a host", () -> new VersionGate.Builder("https://me:secret@gate.example.com", bundle, storage));
        refused("bundle is missing", () -> new VersionGate.Builder(SERVER, null, storage));
        refused("bundle is missing", () -> new VersionGate.Builder(SERVER, "", storage));
        refused("storage is null", () -> new VersionGate.Builder(SERVER, bundle, null));
        VersionGate.Builder builder = new VersionGate.Builder(SERVER, bundle, storage);
        refused("maximum age is 91 days", () -> builder.maximumAge(91));
        refused("maximum age is -1 days", () -> builder.maximumAge(-1));
        refused("no name", () -> builder.attribute(null, true));
        refused("no name", () -> builder.attribute("", "x"));
        refused("share is NaN", () -> builder.attribute("share", Double.NaN));
        refused("share is -Infinity", () -> builder.attribute("share", Float.NEGATIVE_INFINITY));
        refused("transport is null", () -> builder.transport(null));
        refused("clock is null", () -> builder.clock(null));
        refused("observer is null", () -> builder.observer(null));
        VersionGate gate = gate(storage, (address, body) -> answer());
        refused("no name", () -> {
            gate.attribute("", "x");
            return null;
        });
        refused("share is NaN", () -> {
            gate.attribute("share", Double.NaN);
            return null;
        });
        refused("executor is null", () -> {
            gate.check(null, messages -> {});
            return null;
        });
        refused("callback is null", () -> {
            gate.check(Runnable::run, null);
            return null;
        });
    }

    private static void addresses() {
        String[][] addresses = {
            {"https://gate.example.com", "https://gate.example.com/v1/check"},
            {"https://gate.example.com/", "https://gate.example.com/v1/check"},
            {"http://localhost:8080", "http://localhost:8080/v1/check"},
            {"https://example.com/gate", "https://example.com/gate/v1/check"},
            {"https://example.com/gate/", "https://example.com/gate/v1/check"},
            {"http://version_gate:8080", "http://version_gate:8080/v1/check"},
            {"http://[::1]:8080", "http://[::1]:8080/v1/check"},
        };
        for (String[] pair : addresses) {
            AtomicReference<String> asked = new AtomicReference<>();
            new VersionGate.Builder(pair[0], "com.example.doto", new Memory()).transport((address, body) -> {
                asked.set(address);
                return answer();
            }).build().check();
            expect(asked.get(), pair[1]);
        }
    }

    private static void numbers() {
        AtomicReference<String> sent = new AtomicReference<>();
        new VersionGate.Builder(SERVER, "com.example.doto", new Memory()).transport((address, body) -> {
            sent.set(new String(body, StandardCharsets.UTF_8));
            return answer();
        }).attribute("a", 3).attribute("b", 3.0).attribute("c", -0.5f).attribute("d", Long.MAX_VALUE).attribute("e", 1e300)
            .attribute("f", new AtomicInteger(7)).attribute("g", (Number) null).attribute("h", false).attribute("i", "j").build().check();
        expect(sent.get().replaceAll("\"install\":\"[^\"]*\",", ""), "{\"bundle\":\"com.example.doto\",\"a\":3,\"b\":3,"
            + "\"c\":-0.5,\"d\":9223372036854775807,\"e\":1.0E+300,\"f\":7,\"h\":false,\"i\":\"j\"}");
    }

    /** Values that make an answer valid or not when one of its unknown members has them. */
    private static void json() {
        String[] valid = {
            "0", "-0", "1e5", "1E+5", "1e-5", "-1.25", "0.0", "1e999", "123456789012345678901234567890", "true", "false",
            "null", "\"\"",
            "\"a\\\"\\\\\\/\\b\\f\\n\\r\\t\\u00e9\\uD83D\\uDE00\\u0000\"",
            "\"\u007f\u2028\ud83d\ude00'\"", "[]", "[ ]", "{}", "{ }",
            "[1 , 2]", "{\"a\" : 1 ,\"a\":2}", "{\"\":{\"\":[[[]]]}}", "\"</html>\"",
        };
        String[] invalid = {
            "", "-", "+1", "01", "-01", "1.", ".5", "1.e5", "1e", "1e+", "0x10", "1_000", "\u0661",
            "NaN", "-NaN", "Infinity", "-Infinity", "nan", "tru", "True", "TRUE", "nul", "nil", "undefined",
            "truefalse", "1 2", "a", "'a'",
            "\"a", "a\"", "\"\t\"", "\"\n\"", "\"\u0000\"", "\"\\x\"",
            "\"\\'\"", "\"\\u12\"", "\"\\u12g4\"", "\"\\u\uff11\uff11\uff11\uff11\"",
            "\"\\U0041\"", "\"\\", "[", "]", "[1,]", "[,1]", "[,]", "[1 2]", "[1;2]", "{", "{\"a\"}",
            "{\"a\":}", "{\"a\":1,}", "{,}", "{a:1}", "{'a':1}", "{1:1}", "{\"a\"=1}", "{\"a\"=>1}",
            "{\"a\" 1}", "{\"a\":1;\"b\":2}", "{null:1}", "[1}", "{\"a\":1]", "/**/1", "1//x",
            "1#x", "(1)", "\u00a01", "\ufeff1", "\u000b1", "\f1", "<html></html>",
        };
        Memory storage = lockedOut();
        String kept = storage.text;
        for (boolean isValid : new boolean[] {true, false}) {
            for (String value : isValid ? valid : invalid) {
                String[] bodies = {"{\"x\":" + value + ",\"messages\":[]}", "{\"messages\":[], \"x\": " + value + " }",
                    "{\"x\":[0," + value + "],\"messages\":[]}"};
                for (String body : bodies) {
                    storage.text = kept;
                    expect(ids(checked(gate(storage, (address, question) -> body(body)))).equals("[]") == isValid, body);
                }
            }
        }
        String[] noAnswers = {"{\"messages\":[]}\u0000", "{\"messages\":[]},",
            "{messages:[]}", "{'messages':[]}", ")]}'\n{\"messages\":[]}", "callback({\"messages\":[]})",
            "{\"messages\"=[]}", "{\"messages\":[]}//", "\"messages\":[]"};
        for (String body : noAnswers) {
            storage.text = kept;
            expect(ids(checked(gate(storage, (address, question) -> body(body)))).equals("[blocked]"), body);
        }
        byte[][] noText = {
            {(byte) 0xff}, {(byte) 0xc0, (byte) 0xaf}, {(byte) 0xed, (byte) 0xa0, (byte) 0x80}, {(byte) 0xe2, (byte) 0x82},
        };
        for (byte[] bytes : noText) {
            byte[] body = "{\"x\":\"....\",\"messages\":[]}".getBytes(StandardCharsets.US_ASCII);
            System.arraycopy(bytes, 0, body, 6, bytes.length);
            storage.text = kept;
            expect(ids(checked(gate(storage, (address, question) -> new VersionGate.Answer(200, body)))), "[blocked]");
        }
        for (int depth : new int[] {500, 600}) {
            StringBuilder nested = new StringBuilder("{\"x\":");
            for (int level = 0; level < 2 * depth; level++) {
                nested.append(level < depth ? '[' : ']');
            }
            String body = nested.append(",\"messages\":[]}").toString();
            storage.text = kept;
            expect(ids(checked(gate(storage, (address, question) -> body(body)))), depth == 500 ? "[]" : "[blocked]");
        }
    }

    private static void textThroughStorage() throws Exception {
        StringBuilder all = new StringBuilder();
        for (char next = 0; next < 0x300; next++) {
            all.append(next);
        }
        String text = all.append("\u2028\u2029\ufeff\ud83d\ude00").toString();
        JSONObject message = new JSONObject(LOCKOUT).put("title", text).put("id", text).put("target", text);
        Memory storage = new Memory();
        checked(gate(storage, (address, body) -> answer(message.toString())));
        VersionGate.Message kept = checked(gate(storage, (address, body) -> null)).get(0);
        expect(kept.title, text);
        expect(kept.id, text);
        expect(kept.target, text);
        expect(new JSONObject(storage.text).getJSONObject("answer").getJSONObject("lockout").getString("title"), text);
    }

    private static void keptMessage() {
        Memory storage = lockedOut();
        String kept = storage.text;
        for (String member : new String[] {"true", "null", "false", "0"}) {
            storage.text = kept.replace("\"id\":\"blocked\"", "\"id\":\"blocked\",\"lockout\":" + member);
            boolean isLockout = member.equals("true") || member.equals("null");
            expect(ids(checked(gate(storage, (address, body) -> null))), isLockout ? "[blocked]" : "[]");
        }
    }

    private static void keptWithoutShowing() {
        Memory storage = new Memory();
        for (int shown = 0; shown < 2; shown++) {
            storage.text = "{\"messages\":[{\"id\":\"news\",\"shown\":" + shown + ",\"last\":1,\"skipped\":true}]}";
            expect(ids(checked(gate(storage, (address, body) -> answer(NEWS)))), shown == 0 ? "[news]" : "[]");
        }
    }

    /** Faults in a body or in what is kept: nothing is thrown, and each message that is read is whole. */
    private static void changedBytes() {
        Random random = new Random(1);
        byte[] good = ("{\"messages\": [" + NEWS + ", {\"id\": \"a\", \"title\": \"\\u00e9\", \"text\": \"\u00e9\", \"remind\": 1.5e3,"
            + " \"link\": \"https://example.com\", \"target\": null}, " + LOCKOUT + "]}").getBytes(StandardCharsets.UTF_8);
        String marks = "{}[]\",:\\0123456789.eE+-truefalsn \u0000";
        int valid = 0;
        for (int round = 0; round < 5000; round++) {
            byte[] changed = good.clone();
            for (int count = random.nextInt(3); count >= 0; count--) {
                changed[random.nextInt(changed.length)] = (byte) marks.charAt(random.nextInt(marks.length()));
            }
            Memory storage = new Memory();
            List<VersionGate.Message> messages = checked(gate(storage, (address, body) -> new VersionGate.Answer(200, changed)));
            for (VersionGate.Message message : messages) {
                expect(message.id != null && message.title != null && message.text != null, "a message without text");
                valid++;
            }
            if (storage.text.length() > 60) {
                char[] text = storage.text.toCharArray();
                text[random.nextInt(text.length)] = marks.charAt(random.nextInt(marks.length()));
                storage.text = new String(text);
                for (VersionGate.Message message : checked(gate(storage, (address, body) -> null))) {
                    expect(message.lockout, "a message that is no lockout was shown after a check that failed");
                }
            }
        }
        expect(valid > 1000, "only " + valid + " messages were read");
    }

    private static void storageFails() {
        VersionGate.Storage failing = new VersionGate.Storage() {
            @Override
            public String read() throws IOException {
                throw new IOException("read");
            }

            @Override
            public void write(String text) {
                throw new IllegalStateException("write");
            }
        };
        VersionGate gate = gate(failing, (address, body) -> answer(NEWS));
        List<VersionGate.Message> messages = gate.check();
        expect(ids(messages), "[news]");
        messages.get(0).dismiss();
        messages.get(0).opened();
        expect(ids(gate.check(true)), "[news]");
        messages.get(0).skip();
        expect(ids(gate.check(true)), "[]");
        gate.forget();
        expect(ids(gate.check()), "[news]");
    }

    /** Storage in memory that hangs while a test wants it to. */
    private static final class Hanging implements VersionGate.Storage {
        volatile CountDownLatch reading = new CountDownLatch(0);
        volatile CountDownLatch writing = new CountDownLatch(0);
        volatile String text;
        final AtomicInteger writes = new AtomicInteger();

        @Override
        public String read() throws InterruptedException {
            reading.await();
            return text;
        }

        @Override
        public void write(String text) throws InterruptedException {
            writing.await();
            writes.incrementAndGet();
            this.text = text;
        }
    }

    private static void until(Callable<Boolean> condition, String what) throws Exception {
        long start = System.nanoTime();
        while (!condition.call()) {
            expect(System.nanoTime() - start < TimeUnit.SECONDS.toNanos(PATIENCE), "it never came to this: " + what);
            Thread.sleep(1);
        }
    }

    private static void readingHangs() throws Exception {
        Hanging storage = new Hanging();
        String kept = lockedOut().text;
        storage.text = kept;
        storage.reading = new CountDownLatch(1);
        VersionGate gate = gate(storage, (address, body) -> answer(NEWS));
        List<VersionGate.Message> messages = gate.check();
        expect(ids(messages), "[news]");
        messages.get(0).skip();
        expect(ids(gate.check(true)), "[]");
        storage.reading.countDown();
        messages.get(0).dismiss();
        expect(ids(gate.check(true)), "[]");
        expect(storage.text, kept);
        gate.forget();
        until(() -> storage.text == null, "nothing is kept");
        expect(ids(gate.check()), "[news]");
        until(() -> storage.text != null, "what came after forgetting is kept");
    }

    private static void writingHangs() throws Exception {
        Hanging storage = new Hanging();
        storage.writing = new CountDownLatch(1);
        AtomicInteger threads = new AtomicInteger();
        VersionGate gate = gate(storage, (address, body) -> answer(NEWS, LOCKOUT));
        List<VersionGate.Message> messages = gate.check();
        expect(ids(messages), "[news, blocked]");
        for (Thread thread : Thread.getAllStackTraces().keySet()) {
            threads.addAndGet(thread.getName().equals(VersionGate.NAME) ? 1 : 0);
        }
        long start = System.nanoTime();
        for (int count = 0; count < 100; count++) {
            messages.get(0).dismiss();
        }
        long seconds = TimeUnit.NANOSECONDS.toSeconds(System.nanoTime() - start);
        expect(seconds < PATIENCE, "to close the message 100 times took " + seconds + " s");
        messages.get(0).skip();
        for (Thread thread : Thread.getAllStackTraces().keySet()) {
            threads.addAndGet(thread.getName().equals(VersionGate.NAME) ? -1 : 0);
        }
        expect(threads.get() >= 0, "each writing has a thread of its own");
        expect(ids(gate.check(true)), "[blocked]");
        expect(storage.text == null, "the storage does not hang");
        storage.writing.countDown();
        until(() -> storage.text != null && storage.text.contains("\"skipped\":true"), "the newest is kept");
        // The one that hung, and the newest; one alone where it began so late that it had the newest.
        expect(storage.writes.get() <= 2, "there were " + storage.writes.get() + " writes");

        storage.writing = new CountDownLatch(1);
        messages.get(0).dismiss();
        gate.forget();
        storage.writing.countDown();
        until(() -> storage.text == null, "nothing is kept");
    }

    private static void transportFails() {
        Error[] errors = {new StackOverflowError(), new OutOfMemoryError(), new NoClassDefFoundError(), new AssertionError()};
        List<VersionGate.Transport> failing = new ArrayList<>(Arrays.asList(
            (address, body) -> null,
            (address, body) -> new VersionGate.Answer(200, null),
            (address, body) -> {
                throw new IOException("no network");
            },
            (address, body) -> {
                throw new IllegalStateException();
            },
            (address, body) -> {
                Thread.currentThread().interrupt();
                throw new InterruptedException();
            }));
        for (Error error : errors) {
            failing.add((address, body) -> {
                throw error;
            });
        }
        for (VersionGate.Transport transport : failing) {
            expect(ids(gate(lockedOut(), transport).check()), "[blocked]");
            expect(ids(gate(new Memory(), transport).check()), "[]");
        }
    }

    private static void clockFails() {
        VersionGate gate = new VersionGate.Builder(SERVER, "com.example.doto", new Memory()).clock(() -> {
            throw new IllegalStateException("no clock");
        }).transport((address, body) -> answer(NEWS)).build();
        List<VersionGate.Message> messages = gate.check();
        expect(ids(messages), "[news]");
        messages.get(0).dismiss();
        expect(ids(gate.check()), "[]");
    }

    private static void observer() {
        String good = "{\"messages\": [" + NEWS + "]}";
        Object[][] cases = {
            {(VersionGate.Transport) (address, body) -> null, 0, "the transport gives no answer"},
            {(VersionGate.Transport) (address, body) -> new VersionGate.Answer(200, null), 200, "the transport gives no body"},
            {(VersionGate.Transport) (address, body) -> {
                throw new IOException("no network");
            }, 0, "no network"},
            {(VersionGate.Transport) (address, body) -> {
                throw new IOException();
            }, 0, "java.io.IOException"},
            {(VersionGate.Transport) (address, body) -> {
                Thread.sleep(Long.MAX_VALUE);
                return null;
            }, 0, "no answer within 2 seconds"},
            {(VersionGate.Transport) (address, body) -> new VersionGate.Answer(404, body), 404,
                "the server answers with status 404"},
            {(VersionGate.Transport) (address, body) -> body("<html>"), 200, "the answer is no JSON"},
            {(VersionGate.Transport) (address, body) -> body("[]"), 200, "the answer has no list of messages"},
            {(VersionGate.Transport) (address, body) -> new VersionGate.Answer(200, new byte[(1 << 20) + 1]), 200,
                "the answer is longer than 1 MiB"},
            {(VersionGate.Transport) (address, body) -> body(good), 200, null},
        };
        for (Object[] one : cases) {
            List<VersionGate.Report> reports = Collections.synchronizedList(new ArrayList<>());
            VersionGate gate = new VersionGate.Builder(SERVER, "com.example.doto", new Memory())
                .transport((VersionGate.Transport) one[0]).observer(reports::add).build();
            int given = gate.check().size();
            gate.check();
            expect(reports.size(), 2);
            VersionGate.Report report = reports.get(0);
            expect(Arrays.asList(report.outcome, report.status, report.fault, report.messages),
                Arrays.asList(VersionGate.Report.Outcome.ASKED, one[1], one[2], given));
            expect(report.milliseconds >= 0, report.milliseconds + " ms");
            expect(reports.get(1).outcome, VersionGate.Report.Outcome.KEPT);
        }
    }

    private static void observerFails() {
        VersionGate gate = new VersionGate.Builder(SERVER, "com.example.doto", new Memory())
            .transport((address, body) -> answer(NEWS)).observer(report -> {
                throw new IllegalStateException("observer");
            }).build();
        expect(ids(gate.check()), "[news]");
    }

    /** An app without an observer, whose checks fail. */
    static final class FailingApp {
        public static void main(String[] arguments) {
            VersionGate gate = gate(new Memory(), (address, body) -> new VersionGate.Answer(404, body));
            gate.check();
            gate.check(true);
        }
    }

    private static void console() throws Exception {
        for (boolean isDebug : new boolean[] {true, false}) {
            Process process = new ProcessBuilder(System.getProperty("java.home") + "/bin/java", isDebug ? "-ea" : "-da", "-cp",
                System.getProperty("java.class.path"), FailingApp.class.getName()).redirectErrorStream(true).start();
            StringBuilder said = new StringBuilder();
            for (int next = process.getInputStream().read(); next >= 0; next = process.getInputStream().read()) {
                said.append((char) next);
            }
            expect(said.toString().trim(),
                isDebug ? "versiongate: " + SERVER + "/v1/check: the server answers with status 404" : "");
        }
    }

    private static void transportHangs() {
        CountDownLatch end = new CountDownLatch(1);
        VersionGate gate = gate(lockedOut(), (address, body) -> {
            while (end.getCount() > 0) {
                try {
                    end.await();
                } catch (InterruptedException error) {
                    // This transport does not let itself be interrupted.
                }
            }
            return answer(NEWS);
        });
        long start = System.nanoTime();
        expect(ids(gate.check()), "[blocked]");
        long seconds = TimeUnit.NANOSECONDS.toSeconds(System.nanoTime() - start);
        expect(seconds < PATIENCE, "the check took " + seconds + " s");
        end.countDown();
    }

    private static void lateAnswer() throws Exception {
        CountDownLatch late = new CountDownLatch(1);
        CountDownLatch answered = new CountDownLatch(1);
        Memory storage = lockedOut();
        String kept = storage.text;
        VersionGate gate = gate(storage, (address, body) -> {
            try {
                new CountDownLatch(1).await();
            } catch (InterruptedException error) {
                late.await();
            }
            answered.countDown();
            return answer(NEWS);
        });
        expect(ids(gate.check()), "[blocked]");
        late.countDown();
        answered.await();
        expect(ids(checked(gate)), "[blocked]");
        expect(storage.text, kept);
    }

    private static void boundedQuestions() throws Exception {
        AtomicInteger hanging = new AtomicInteger();
        CountDownLatch end = new CountDownLatch(1);
        VersionGate.Transport hangs = (address, body) -> {
            hanging.incrementAndGet();
            while (end.getCount() > 0) {
                try {
                    end.await();
                } catch (InterruptedException error) {
                    // Goes on hanging.
                }
            }
            return null;
        };
        VersionGate another = gate(lockedOut(), hangs);
        List<FutureTask<List<VersionGate.Message>>> checks = new ArrayList<>();
        for (int count = 0; count < 8; count++) {
            Memory storage = lockedOut();
            checks.add(new FutureTask<>(() -> gate(storage, hangs).check()));
        }
        for (FutureTask<List<VersionGate.Message>> check : checks) {
            new Thread(check).start();
        }
        until(() -> hanging.get() == 8, "8 questions are under way");
        String ninth = ids(another.check());
        boolean isFull = true;
        for (FutureTask<List<VersionGate.Message>> check : checks) {
            isFull &= !check.isDone();
        }
        expect(ninth, "[blocked]");
        expect(!isFull || hanging.get() == 8, "a ninth question is under way");
        for (FutureTask<List<VersionGate.Message>> check : checks) {
            expect(ids(check.get(PATIENCE, TimeUnit.SECONDS)), "[blocked]");
        }
        expect(ids(gate(new Memory(), (address, body) -> answer(NEWS)).check()), "[news]");
        end.countDown();
    }

    private static void interruptedCaller() {
        Thread caller = Thread.currentThread();
        VersionGate gate = gate(lockedOut(), (address, body) -> {
            until(() -> caller.getState() == Thread.State.TIMED_WAITING, "the caller waits although it was interrupted");
            return answer(NEWS);
        });
        Thread.currentThread().interrupt();
        List<VersionGate.Message> messages = gate.check();
        expect(Thread.interrupted(), "the check has cleared the interrupt");
        expect(ids(messages), "[news]");
    }

    private static void background() throws Exception {
        AtomicInteger asked = new AtomicInteger();
        VersionGate gate = gate(new Memory(), (address, body) -> {
            asked.incrementAndGet();
            return answer(NEWS);
        });
        FutureTask<String> given = new FutureTask<>(() -> "given");
        AtomicReference<String> shown = new AtomicReference<>();
        AtomicReference<Thread> thread = new AtomicReference<>();
        gate.check(work -> {
            thread.set(new Thread(work, "main thread of an app"));
            thread.get().start();
        }, messages -> {
            shown.set(ids(messages) + " on the " + Thread.currentThread().getName());
            given.run();
        });
        given.get(PATIENCE, TimeUnit.SECONDS);
        expect(shown.get(), "[news] on the main thread of an app");

        CountDownLatch rejected = new CountDownLatch(1);
        AtomicReference<Throwable> uncaught = new AtomicReference<>();
        Thread.UncaughtExceptionHandler handler = Thread.getDefaultUncaughtExceptionHandler();
        Thread.setDefaultUncaughtExceptionHandler((failing, error) -> uncaught.set(error));
        AtomicReference<Thread> checking = new AtomicReference<>();
        gate.check(true, work -> {
            checking.set(Thread.currentThread());
            rejected.countDown();
            throw new RejectedExecutionException("shut down");
        }, messages -> shown.set("shown"));
        expect(rejected.await(PATIENCE, TimeUnit.SECONDS), "the forced check did not end");
        checking.get().join();
        Thread.setDefaultUncaughtExceptionHandler(handler);
        expect(uncaught.get() == null, "uncaught: " + uncaught.get());
        expect(shown.get(), "[news] on the main thread of an app");
        expect(asked.get(), 2);
    }

    private static void forgetDuringQuestion() throws Exception {
        duringQuestion(answer(NEWS, LOCKOUT), "[news, blocked]");
    }

    private static void forgetDuringFailingQuestion() throws Exception {
        duringQuestion(null, "[]");
    }

    private static void duringQuestion(VersionGate.Answer answer, String shows) throws Exception {
        CountDownLatch asked = new CountDownLatch(1);
        CountDownLatch forgotten = new CountDownLatch(1);
        List<String> questions = Collections.synchronizedList(new ArrayList<>());
        Memory storage = lockedOut();
        VersionGate gate = gate(storage, (address, body) -> {
            questions.add(new JSONObject(new String(body, StandardCharsets.UTF_8)).getString("install"));
            asked.countDown();
            if (questions.size() == 1) {
                forgotten.await();
            }
            return answer;
        });
        FutureTask<List<VersionGate.Message>> check = new FutureTask<>(() -> gate.check());
        new Thread(check).start();
        asked.await();
        gate.forget();
        gate.finishWriting();
        expect(storage.text == null, "something is kept: " + storage.text);
        forgotten.countDown();
        List<VersionGate.Message> messages = check.get();
        expect(ids(messages), shows);
        gate.finishWriting();
        expect(storage.text == null, "something is kept: " + storage.text);
        expect(ids(gate.check()), shows);
        expect(questions.size(), 2);
        expect(!questions.get(0).equals(questions.get(1)), "the install is the same");
    }

    private static void forgetAndAsk() throws Exception {
        CountDownLatch asked = new CountDownLatch(1);
        CountDownLatch forgotten = new CountDownLatch(1);
        AtomicInteger questions = new AtomicInteger();
        Memory storage = new Memory();
        VersionGate gate = gate(storage, (address, body) -> {
            if (questions.incrementAndGet() > 1) {
                return answer(NEWS);
            }
            asked.countDown();
            forgotten.await();
            return answer(LOCKOUT);
        });
        FutureTask<List<VersionGate.Message>> check = new FutureTask<>(() -> gate.check());
        new Thread(check).start();
        asked.await();
        gate.forget();
        expect(ids(checked(gate)), "[news]");
        String kept = storage.text;
        forgotten.countDown();
        expect(ids(check.get()), "[blocked]");
        gate.finishWriting();
        expect(storage.text, kept);
        expect(ids(gate.check()), "[]");
        expect(questions.get(), 2);
    }

    private static void allAtOnce() throws Exception {
        AtomicInteger asking = new AtomicInteger();
        AtomicInteger most = new AtomicInteger();
        AtomicInteger clock = new AtomicInteger(1790000000);
        Memory storage = new Memory();
        VersionGate gate = new VersionGate.Builder(SERVER, "com.example.doto", storage).clock(clock::get)
            .transport((address, body) -> {
                most.accumulateAndGet(asking.incrementAndGet(), Math::max);
                Thread.yield();
                asking.decrementAndGet();
                return clock.get() % 3 == 0 ? null : answer(NEWS.replace("news", "news" + clock.get() % 5), LOCKOUT);
            }).build();
        List<FutureTask<Integer>> all = new ArrayList<>();
        for (int index = 0; index < 6; index++) {
            Random random = new Random(index);
            all.add(new FutureTask<>(() -> {
                int shown = 0;
                for (int round = 0; round < 2000; round++) {
                    clock.addAndGet(random.nextInt(300));
                    for (VersionGate.Message message : gate.check(random.nextBoolean())) {
                        shown++;
                        switch (random.nextInt(20)) {
                        case 0:
                            message.skip();
                            break;
                        case 1:
                            message.opened();
                            break;
                        default:
                            message.dismiss();
                        }
                    }
                }
                return shown;
            }));
        }
        for (FutureTask<Integer> one : all) {
            new Thread(one).start();
        }
        for (FutureTask<Integer> one : all) {
            expect(one.get() > 100, "hardly anything was shown");
        }
        expect(most.get(), 1);
        gate.finishWriting();
        JSONObject kept = new JSONObject(storage.text);
        expect(kept.getJSONArray("messages").length(), 5);
    }
}

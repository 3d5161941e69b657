// SPDX-License-Identifier: Apache-2.0
// Copyright the versiongate authors

package dev.versiongate;

import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.math.BigDecimal;
import java.net.HttpURLConnection;
import java.net.MalformedURLException;
import java.net.URI;
import java.net.URISyntaxException;
import java.net.URL;
import java.nio.ByteBuffer;
import java.nio.charset.CharacterCodingException;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collections;
import java.util.Iterator;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.UUID;
import java.util.concurrent.ArrayBlockingQueue;
import java.util.concurrent.Callable;
import java.util.concurrent.CancellationException;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.Executor;
import java.util.concurrent.FutureTask;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.Semaphore;
import java.util.concurrent.ThreadPoolExecutor;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.regex.Pattern;

/**
 * Asks a versiongate server at the start of an app, and says which messages to show.
 *
 * <p>Make one with a {@link Builder} at the start of the app, and keep it until the app ends. Its methods may be called
 * from any thread, and never throw; only wrong arguments throw {@link IllegalArgumentException}. No argument and no
 * result is null where this is not said.
 */
public final class VersionGate {
    /** A message to show. */
    public static final class Message {
        /** The key of the rule that sent the message. */
        public final String id;
        /** What to show, as plain text. */
        public final String title;
        /** What to show below the title, as plain text with line breaks. */
        public final String text;
        /** The address to open, or null. Its scheme is one that an app may open. */
        public final String link;
        /** The version that the message is about, or null. */
        public final String target;
        /** Whether the app must not go on. */
        public final boolean lockout;
        /** The message is shown again no sooner than so many seconds after it was last shown; 0 if it has no such bound. */
        public final long remind;
        /** The message is shown at most so often; 0 if it has no such bound. */
        public final long shows;
        /** Whether the person may choose never to see the message again. */
        public final boolean skippable;

        private final VersionGate gate;

        /** Throws {@link IllegalArgumentException} if the members are not those of a message. */
        private Message(VersionGate gate, Map<?, ?> members, boolean isLockoutByDefault) {
            this.gate = gate;
            id = Json.required(members, "id", String.class);
            title = Json.required(members, "title", String.class);
            text = Json.required(members, "text", String.class);
            target = Json.optional(members, "target", String.class);
            String link = Json.optional(members, "link", String.class);
            this.link = link != null && mayBeOpened(link) ? link : null;
            Boolean lockout = Json.optional(members, "lockout", Boolean.class);
            this.lockout = lockout == null ? isLockoutByDefault : lockout;
            Long remind = Json.whole(members, "remind", 1);
            Long shows = Json.whole(members, "shows", 1);
            Boolean skip = Json.optional(members, "skip", Boolean.class);
            this.remind = this.lockout || remind == null ? 0 : remind;
            this.shows = this.lockout || shows == null ? 0 : shows;
            skippable = !this.lockout && skip != null && skip;
        }

        /** The person closed the message. */
        public void dismiss() {
            gate.remember(this, false);
        }

        /** The person does not want to see the message again. The same as {@link #dismiss} if it is not skippable. */
        public void skip() {
            gate.remember(this, skippable);
        }

        /** The person follows the link. Returns the link, or null if there is none. */
        public String opened() {
            gate.remember(this, false);
            return link;
        }

        private boolean isRemembered() {
            return remind > 0 || shows > 0 || skippable;
        }

        /** What is remembered of a message, is remembered for this pair. */
        private List<String> key() {
            return Arrays.asList(id, target);
        }

        private static final String[] STARTS = {
            "https://", "http://", "itms-apps:", "itms-appss:", "macappstore:", "market:", "ms-windows-store:",
        };

        private static boolean mayBeOpened(String link) {
            if (link.length() > 2048) {
                return false;
            }
            for (int at = 0; at < link.length(); at++) {
                if (link.charAt(at) <= ' ' || link.charAt(at) > '~') {
                    return false;
                }
            }
            for (String start : STARTS) {
                if (link.length() > start.length() && link.regionMatches(true, 0, start, 0, start.length())) {
                    return true;
                }
            }
            return false;
        }
    }

    /**
     * Keeps one text for the library, under the name {@link #NAME}, among the settings of the app. It may fail. The library
     * calls it on a thread of its own, one call at a time, and waits a second at most: reading that takes longer has failed,
     * and nothing is written after that until the app ends; writing that takes longer goes on.
     */
    public interface Storage {
        /** The text that was written last, or null if there is none. */
        String read() throws Exception;

        /** Replaces the text; null deletes it. */
        void write(String text) throws Exception;
    }

    /** Asks the server. */
    public interface Transport {
        /**
         * Sends the body to the address with POST and the header {@code Content-Type: application/json}, follows no
         * redirect, and returns the answer. Runs on a thread of its own, which is interrupted when 2 seconds are over.
         */
        Answer ask(String address, byte[] body) throws Exception;
    }

    /** What a server answered. */
    public static final class Answer {
        private final int status;
        private final byte[] body;

        /** A body of more than 1 MiB need not be complete: it makes the check fail. */
        public Answer(int status, byte[] body) {
            this.status = status;
            this.body = body;
        }
    }

    /** The clock of the device. */
    public interface Clock {
        /** Whole seconds since 1970. */
        long seconds();
    }

    /** Takes the messages of a check in the background. */
    public interface Callback {
        /** Shows the messages, in their order. */
        void onMessages(List<Message> messages);
    }

    /** What the library is told. */
    public static final class Builder {
        private final String address;
        private final Map<String, Object> members = new LinkedHashMap<>();
        private final Map<String, Object> attributes = new LinkedHashMap<>();
        private final Storage storage;
        private int maximumAge = 7;
        private Transport transport = new Http();
        private Clock clock = SYSTEM_CLOCK;

        /**
         * @param server where the server is: {@code https://gate.example.com}, or with a path
         * @param bundle the bundle or package identifier of the app, as the server knows it
         * @param storage keeps what the library remembers from start to start
         */
        public Builder(String server, String bundle, Storage storage) {
            address = server(server) + "/v1/check";
            require(bundle != null && !bundle.isEmpty(), "the bundle is missing: give the package name of the app");
            members.put("bundle", bundle);
            require(storage != null, "the storage is null: give one that keeps a text among the settings of the app");
            this.storage = storage;
        }

        /** The version of the app. This one and those below may be null or empty, which is: not known. */
        public Builder version(String version) {
            members.put("version", version);
            return this;
        }

        /** The build number of the app. */
        public Builder buildNumber(String number) {
            members.put("build", number);
            return this;
        }

        /** The platform, which finds the releases and the store link of the app: {@code android}, {@code linux}. */
        public Builder platform(String platform) {
            members.put("platform", platform);
            return this;
        }

        /** The version of the operating system. */
        public Builder os(String version) {
            members.put("os", version);
            return this;
        }

        /** The country, such as {@code AT}. */
        public Builder region(String region) {
            members.put("region", region);
            return this;
        }

        /** The language tag, such as {@code de-AT}. */
        public Builder language(String language) {
            members.put("language", language);
            return this;
        }

        /** An attribute that rules can ask for. Null or empty text is not sent. */
        public Builder attribute(String name, String value) {
            return put(name, value);
        }

        /** An attribute that rules can ask for. A whole number is sent as one: 3.0 as 3. */
        public Builder attribute(String name, Number value) {
            if (value == null) {
                return put(name, null);
            }
            boolean isWhole = (value instanceof Double || value instanceof Float)
                && value.doubleValue() == Math.rint(value.doubleValue()) && Math.abs(value.doubleValue()) <= Json.MOST;
            try {
                return put(name, isWhole ? BigDecimal.valueOf(value.longValue()) : new BigDecimal(value.toString()));
            } catch (NumberFormatException error) {
                throw new IllegalArgumentException(
                    "the attribute " + name + " is " + value + ", which is no number in JSON", error);
            }
        }

        /** An attribute that rules can ask for. */
        public Builder attribute(String name, boolean value) {
            return put(name, value);
        }

        private Builder put(String name, Object value) {
            require(name != null && !name.isEmpty(), "an attribute has no name");
            attributes.put(name, value);
            return this;
        }

        /** For how many days a lockout holds while the server cannot be reached: 0 to 90; 7 if it is not set. */
        public Builder maximumAge(int days) {
            require(days >= 0 && days <= 90, "the maximum age is " + days + " days: give 0 to 90");
            maximumAge = days;
            return this;
        }

        /** Asks the server in another way than with {@link HttpURLConnection}. */
        public Builder transport(Transport transport) {
            require(transport != null, "the transport is null");
            this.transport = transport;
            return this;
        }

        /** Another clock than that of the device, for tests. */
        public Builder clock(Clock clock) {
            require(clock != null, "the clock is null");
            this.clock = clock;
            return this;
        }

        /** Makes the library for this start of the app. It asks and reads nothing yet. */
        public VersionGate build() {
            return new VersionGate(this);
        }

        private static String server(String server) {
            require(server != null, "the server is missing: give an address such as https://gate.example.com");
            try {
                URL url = new URI(server).toURL();
                require(url.getProtocol().equals("https") || url.getProtocol().equals("http"), "its scheme is not https");
                require(!url.getHost().isEmpty(), "it has no host");
                require(url.getUserInfo() == null && url.getQuery() == null && url.getRef() == null,
                    "it has more than a host, a port and a path");
                return server.endsWith("/") ? server.substring(0, server.length() - 1) : server;
            } catch (URISyntaxException | MalformedURLException | RuntimeException error) {
                throw new IllegalArgumentException("the server is " + server + ": give an address such as "
                    + "https://gate.example.com; " + error.getMessage(), error);
            }
        }
    }

    /** The name of the text that is kept. */
    public static final String NAME = "dev.versiongate";

    private static final long LIMIT = TimeUnit.SECONDS.toNanos(2);
    private static final long STORAGE_LIMIT = TimeUnit.SECONDS.toNanos(1);
    private static final long PAUSE = TimeUnit.MINUTES.toSeconds(15);
    private static final int LARGEST_BODY = 1 << 20;
    private static final int MOST_REMEMBERED = 256;
    private static final Clock SYSTEM_CLOCK = () -> System.currentTimeMillis() / 1000;
    /** One for each thread that asks, in the whole process. A thread that hangs keeps its own. */
    private static final Semaphore THREADS = new Semaphore(8);

    private final String address;
    private final Map<String, Object> client = new LinkedHashMap<>();
    private final String version;
    private final String build;
    private final long maximumAge;
    private final Storage storage;
    private final Transport transport;
    private final Clock clock;
    private final Calls calls = new Calls();

    /** Guards what is below. Nobody holds it while a question is under way. */
    private final Object lock = new Object();
    /** What is kept; null until it is read. */
    private State state;
    /** The text in the storage, or null if it is not known. */
    private String written;
    /** What is in the storage was not read in time, so it is not replaced. */
    private boolean isUnread;
    private Long asked;
    private Question question;

    private VersionGate(Builder builder) {
        address = builder.address;
        for (String name : Arrays.asList("bundle", "version", "build", "platform", "os", "region", "language")) {
            client.put(name, builder.members.get(name));
        }
        client.put("install", null);
        for (Map.Entry<String, Object> attribute : builder.attributes.entrySet()) {
            if (!client.containsKey(attribute.getKey())) {
                client.put(attribute.getKey(), attribute.getValue());
            }
        }
        for (Map.Entry<String, Object> member : client.entrySet()) {
            if ("".equals(member.getValue())) {
                member.setValue(null);
            }
        }
        version = (String) client.get("version");
        build = (String) client.get("build");
        maximumAge = TimeUnit.DAYS.toSeconds(builder.maximumAge);
        storage = builder.storage;
        transport = builder.transport;
        clock = builder.clock;
    }

    /** The messages to show now, in their order. Waits for the server, at most 2 seconds: not for the main thread. */
    public List<Message> check() {
        return check(false);
    }

    /**
     * The messages to show now, in their order. Waits for the server, at most 2 seconds: not for the main thread.
     *
     * @param force asks also if the last question is less than 15 minutes old
     */
    public List<Message> check(boolean force) {
        Question current;
        long deadline = System.nanoTime() + LIMIT;
        synchronized (lock) {
            load();
            if (question == null) {
                long now = now();
                if (!force && asked != null && asked <= now && now - asked < PAUSE) {
                    return lockout(state, now);
                }
                asked = now;
                question = ask(deadline);
            }
            current = question;
        }
        List<Message> answer = current.await();
        synchronized (lock) {
            if (current.messages == null) {
                current.messages = answer == null ? lockout(current.state, now()) : show(answer, current, now());
            }
            if (question == current) {
                question = null;
            }
            return current.messages;
        }
    }

    /** Checks in the background, and gives the messages to the callback, on an executor such as that of the main thread. */
    public void check(Executor executor, Callback callback) {
        check(false, executor, callback);
    }

    /** The same, and {@code force} asks also if the last question is less than 15 minutes old. */
    public void check(boolean force, Executor executor, Callback callback) {
        require(executor != null, "the executor is null");
        require(callback != null, "the callback is null");
        start(() -> give(check(force), executor, callback), () -> give(Collections.emptyList(), executor, callback));
    }

    private static void give(List<Message> messages, Executor executor, Callback callback) {
        try {
            executor.execute(() -> callback.onMessages(messages));
        } catch (RejectedExecutionException error) {
            // The app has shut the executor down: it does not wait for messages any more.
        }
    }

    /** Deletes the id of the installation and all else that the library keeps. */
    public void forget() {
        synchronized (lock) {
            if (state != null) {
                state.answer = null;
            }
            state = new State();
            asked = null;
            question = null;
            isUnread = false;
            write(null, System.nanoTime() + STORAGE_LIMIT);
        }
    }

    private Question ask(long deadline) {
        boolean isNew = state.install == null;
        if (isNew) {
            state.install = UUID.randomUUID().toString();
        }
        client.put("install", state.install);
        byte[] body = Json.write(client).getBytes(StandardCharsets.UTF_8);
        boolean isAllowed = THREADS.tryAcquire();
        AtomicBoolean isHeld = new AtomicBoolean(isAllowed);
        Runnable release = () -> {
            if (isHeld.getAndSet(false)) {
                THREADS.release();
            }
        };
        Question question = new Question(state, deadline, () -> {
            try {
                return read(transport.ask(address, body));
            } finally {
                // Before those who wait get the answer, and ask again.
                release.run();
            }
        });
        boolean isAsking = isAllowed && start(() -> {
            question.answer.run();
            // A question that was given up before it began has not released it.
            release.run();
        }, release);
        if (!isAsking) {
            question.answer.cancel(false);
        }
        if (isNew) {
            save(deadline);
        }
        return question;
    }

    /** Runs the work on a thread of its own, or what is to be done if the system gives the process none. */
    private static boolean start(Runnable work, Runnable otherwise) {
        try {
            daemon(work).start();
            return true;
        } catch (OutOfMemoryError error) {
            otherwise.run();
            return false;
        }
    }

    private static Thread daemon(Runnable work) {
        Thread thread = new Thread(work, NAME);
        thread.setDaemon(true);
        return thread;
    }

    /** Waits for a result until the deadline. Whoever interrupts the caller does not end the wait. */
    private static <T> T get(FutureTask<T> task, long deadline) throws ExecutionException, TimeoutException {
        boolean isInterrupted = false;
        try {
            while (true) {
                try {
                    return task.get(deadline - System.nanoTime(), TimeUnit.NANOSECONDS);
                } catch (InterruptedException error) {
                    isInterrupted = true;
                }
            }
        } finally {
            if (isInterrupted) {
                Thread.currentThread().interrupt();
            }
        }
    }

    /** The messages of an answer; null if the check has failed. */
    private List<Message> read(Answer answer) throws CharacterCodingException {
        if (answer == null || answer.status != 200 || answer.body == null || answer.body.length > LARGEST_BODY) {
            return null;
        }
        String text = StandardCharsets.UTF_8.newDecoder().decode(ByteBuffer.wrap(answer.body)).toString();
        List<?> elements = Json.required(Json.object(Json.read(text)), "messages", List.class);
        List<Message> messages = new ArrayList<>();
        for (Object element : elements) {
            try {
                messages.add(new Message(this, Json.object(element), false));
            } catch (IllegalArgumentException error) {
                // The element is no message. The rest stands.
            }
        }
        return messages;
    }

    private List<Message> show(List<Message> answer, Question question, long now) {
        List<Message> shown = new ArrayList<>();
        State state = question.state;
        state.answer = null;
        for (Message message : answer) {
            if (message.lockout) {
                shown.add(message);
                if (maximumAge > 0) {
                    state.answer = new KeptAnswer(now, version, build, message);
                }
                break;
            }
            Memory memory = state.memories.get(message.key());
            if (memory != null && memory.hides(message, now)) {
                continue;
            }
            shown.add(message);
            if (message.isRemembered()) {
                state.put(message.key(), memory == null ? 1 : memory.shown + 1, now, false);
            }
        }
        if (state == this.state) {
            save(question.deadline);
        }
        return Collections.unmodifiableList(shown);
    }

    private List<Message> lockout(State state, long now) {
        KeptAnswer answer = state.answer;
        boolean holds = answer != null && maximumAge > 0 && answer.at <= now && now - answer.at <= maximumAge
            && same(answer.version, version) && same(answer.build, build);
        return holds ? Collections.singletonList(answer.lockout) : Collections.emptyList();
    }

    private static boolean same(String one, String other) {
        return one == null ? other == null : one.equals(other);
    }

    private void remember(Message message, boolean skip) {
        if (!message.isRemembered()) {
            return;
        }
        synchronized (lock) {
            load();
            Memory memory = state.memories.get(message.key());
            state.put(message.key(), memory == null ? 1 : memory.shown, now(), skip || memory != null && memory.skipped);
            save(System.nanoTime() + STORAGE_LIMIT);
        }
    }

    private long now() {
        try {
            return clock.seconds();
        } catch (RuntimeException error) {
            return SYSTEM_CLOCK.seconds();
        }
    }

    private void load() {
        if (state != null) {
            return;
        }
        state = new State();
        try {
            written = calls.call(storage::read, System.nanoTime() + STORAGE_LIMIT);
            if (written != null) {
                state.decode(this, Json.object(Json.read(written)));
            }
        } catch (TimeoutException error) {
            isUnread = true;
        } catch (ExecutionException | IllegalArgumentException error) {
            // What cannot be read is the same as nothing kept.
        }
    }

    private void save(long deadline) {
        String text = state.encode();
        if (!isUnread && !text.equals(written)) {
            write(text, deadline);
        }
    }

    private void write(String text, long deadline) {
        try {
            written = calls.call(() -> {
                storage.write(text);
                return text;
            }, deadline);
        } catch (TimeoutException | ExecutionException error) {
            // The library goes on with what it has in memory.
            written = null;
        }
    }

    private static void require(boolean condition, String message) {
        if (!condition) {
            throw new IllegalArgumentException(message);
        }
    }

    /** A question under way. */
    private static final class Question {
        final State state;
        final long deadline;
        final FutureTask<List<Message>> answer;
        /** What the question gave; null until the first of those who wait has seen to it. */
        List<Message> messages;

        Question(State state, long deadline, Callable<List<Message>> asking) {
            this.state = state;
            this.deadline = deadline;
            answer = new FutureTask<>(asking);
        }

        /** The messages of the answer; null if the check has failed. */
        List<Message> await() {
            try {
                return get(answer, deadline);
            } catch (TimeoutException error) {
                answer.cancel(true);
                return null;
            } catch (ExecutionException | CancellationException error) {
                return null;
            }
        }
    }

    /**
     * Calls of the storage, in their order, on one thread that ends when there are none. While one hangs, nobody waits for
     * those behind it, and only the newest of these stays.
     */
    private static final class Calls {
        private final ThreadPoolExecutor thread = new ThreadPoolExecutor(0, 1, 0, TimeUnit.SECONDS,
            new ArrayBlockingQueue<>(1), VersionGate::daemon, new ThreadPoolExecutor.DiscardOldestPolicy());
        private FutureTask<String> last;

        String call(Callable<String> work, long deadline) throws ExecutionException, TimeoutException {
            boolean isBusy = last != null && !last.isDone();
            last = new FutureTask<>(work);
            try {
                thread.execute(last);
            } catch (OutOfMemoryError error) {
                last.cancel(false);
                throw new ExecutionException("the system gives the process no further thread", error);
            }
            long now = System.nanoTime();
            return get(last, isBusy ? now : now + Math.min(deadline - now, STORAGE_LIMIT));
        }
    }

    /** What is remembered of a message. */
    private static final class Memory {
        final long shown;
        final long last;
        final boolean skipped;

        Memory(long shown, long last, boolean skipped) {
            this.shown = shown;
            this.last = last;
            this.skipped = skipped;
        }

        boolean hides(Message message, long now) {
            return skipped || message.shows > 0 && shown >= message.shows
                || message.remind > 0 && last <= now && now - last < message.remind;
        }
    }

    /** What is kept of the last valid answer, if it had a lockout. */
    private static final class KeptAnswer {
        final long at;
        final String version;
        final String build;
        final Message lockout;

        KeptAnswer(long at, String version, String build, Message lockout) {
            this.at = at;
            this.version = version;
            this.build = build;
            this.lockout = lockout;
        }
    }

    /** All that is kept. */
    private static final class State {
        private static final Pattern UUID_IN_LOWER_CASE = Pattern.compile("[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}");

        String install;
        KeptAnswer answer;
        /** In the order in which they were put. */
        final Map<List<String>, Memory> memories = new LinkedHashMap<>();

        void put(List<String> key, long shown, long last, boolean skipped) {
            memories.remove(key);
            memories.put(key, new Memory(shown, last, skipped));
            if (memories.size() > MOST_REMEMBERED) {
                Iterator<List<String>> oldest = memories.keySet().iterator();
                oldest.next();
                oldest.remove();
            }
        }

        void decode(VersionGate gate, Map<?, ?> root) {
            Object id = root.get("install");
            if (id instanceof String && UUID_IN_LOWER_CASE.matcher((String) id).matches()) {
                install = (String) id;
            }
            try {
                Map<?, ?> kept = Json.required(root, "answer", Map.class);
                Message lockout = new Message(gate, Json.required(kept, "lockout", Map.class), true);
                require(lockout.lockout, "the message that is kept is no lockout");
                answer = new KeptAnswer(Json.required(Json.whole(kept, "at", 0)), Json.optional(kept, "version", String.class),
                    Json.optional(kept, "build", String.class), lockout);
            } catch (IllegalArgumentException error) {
                answer = null;
            }
            Object messages = root.get("messages");
            for (Object element : messages instanceof List ? (List<?>) messages : Collections.emptyList()) {
                try {
                    Map<?, ?> members = Json.object(element);
                    Boolean skipped = Json.optional(members, "skipped", Boolean.class);
                    put(Arrays.asList(Json.required(members, "id", String.class), Json.optional(members, "target", String.class)),
                        Json.required(Json.whole(members, "shown", 1)), Json.required(Json.whole(members, "last", 0)),
                        skipped != null && skipped);
                } catch (IllegalArgumentException error) {
                    // This one cannot be read. The rest stands.
                }
            }
        }

        String encode() {
            Map<String, Object> root = new LinkedHashMap<>();
            root.put("install", install);
            if (answer != null) {
                Map<String, Object> lockout = new LinkedHashMap<>();
                lockout.put("id", answer.lockout.id);
                lockout.put("title", answer.lockout.title);
                lockout.put("text", answer.lockout.text);
                lockout.put("link", answer.lockout.link);
                lockout.put("target", answer.lockout.target);
                Map<String, Object> kept = new LinkedHashMap<>();
                kept.put("at", answer.at);
                kept.put("version", answer.version);
                kept.put("build", answer.build);
                kept.put("lockout", lockout);
                root.put("answer", kept);
            }
            List<Object> messages = new ArrayList<>();
            for (Map.Entry<List<String>, Memory> entry : memories.entrySet()) {
                Map<String, Object> message = new LinkedHashMap<>();
                message.put("id", entry.getKey().get(0));
                message.put("target", entry.getKey().get(1));
                message.put("shown", entry.getValue().shown);
                message.put("last", entry.getValue().last);
                message.put("skipped", entry.getValue().skipped ? true : null);
                messages.add(message);
            }
            root.put("messages", messages.isEmpty() ? null : messages);
            return Json.write(root);
        }
    }

    /** Asks with {@link HttpURLConnection}, in a connection of its own. */
    static final class Http implements Transport {
        @Override
        public Answer ask(String address, byte[] body) throws IOException {
            long deadline = System.nanoTime() + LIMIT;
            int pause = (int) TimeUnit.NANOSECONDS.toMillis(LIMIT);
            HttpURLConnection connection = (HttpURLConnection) new URL(address).openConnection();
            try {
                connection.setConnectTimeout(pause);
                connection.setReadTimeout(pause);
                connection.setInstanceFollowRedirects(false);
                connection.setUseCaches(false);
                connection.setRequestMethod("POST");
                connection.setDoOutput(true);
                // A body of fixed length is sent once: not again after a connection was lost, nor with a password.
                connection.setFixedLengthStreamingMode(body.length);
                connection.setRequestProperty("Content-Type", "application/json");
                connection.setRequestProperty("Accept", "application/json");
                connection.setRequestProperty("Accept-Encoding", "identity");
                // That of the system names the device.
                connection.setRequestProperty("User-Agent", "versiongate");
                try (OutputStream out = connection.getOutputStream()) {
                    out.write(body);
                }
                int status = connection.getResponseCode();
                ByteArrayOutputStream read = new ByteArrayOutputStream();
                if (status == HttpURLConnection.HTTP_OK) {
                    byte[] buffer = new byte[8192];
                    InputStream in = connection.getInputStream();
                    int count = in.read(buffer);
                    while (count >= 0 && read.size() <= LARGEST_BODY && deadline - System.nanoTime() > 0) {
                        read.write(buffer, 0, count);
                        count = in.read(buffer);
                    }
                }
                return new Answer(status, read.toByteArray());
            } finally {
                connection.disconnect();
            }
        }
    }

    /**
     * JSON as in RFC 8259, nested at most 512 deep: objects are maps, arrays lists, numbers doubles, and null is null. Of
     * members with one name the last stands. What is not JSON, or has another type, is an {@link IllegalArgumentException}.
     */
    private static final class Json {
        /** 2^53 - 1: a double says each whole number up to it. */
        static final long MOST = (1L << 53) - 1;

        private static final char END = '\uffff';
        private static final int DEEPEST = 512;

        private final String text;
        private int at;

        private Json(String text) {
            this.text = text;
        }

        static Object read(String text) {
            Json json = new Json(text);
            Object value = json.value(0);
            json.expect(json.at == text.length());
            return value;
        }

        static Map<?, ?> object(Object value) {
            require(value instanceof Map, "not an object");
            return (Map<?, ?>) value;
        }

        static <T> T required(T value) {
            require(value != null, "not there");
            return value;
        }

        static <T> T required(Map<?, ?> members, String name, Class<T> type) {
            return required(optional(members, name, type));
        }

        static <T> T optional(Map<?, ?> members, String name, Class<T> type) {
            Object value = members.get(name);
            require(value == null || type.isInstance(value), "another type");
            return type.cast(value);
        }

        /** A whole number of at least so much, up to 2^53 - 1, or null. */
        static Long whole(Map<?, ?> members, String name, long least) {
            Double value = optional(members, name, Double.class);
            if (value == null) {
                return null;
            }
            require(value >= least && value <= MOST && value == Math.rint(value), "not such a whole number");
            return value.longValue();
        }

        private void expect(boolean condition) {
            if (!condition) {
                throw new IllegalArgumentException("not JSON at character " + at);
            }
        }

        private char peek() {
            return at < text.length() ? text.charAt(at) : END;
        }

        private boolean take(char expected) {
            boolean isThere = peek() == expected;
            at += isThere ? 1 : 0;
            return isThere;
        }

        private void blanks() {
            while (peek() == ' ' || peek() == '\t' || peek() == '\n' || peek() == '\r') {
                at++;
            }
        }

        /** A value and the blanks around it. */
        private Object value(int depth) {
            expect(depth <= DEEPEST);
            blanks();
            Object value = peek() == '{' ? object(depth) : peek() == '[' ? array(depth) : peek() == '"' ? string() : scalar();
            blanks();
            return value;
        }

        private Map<String, Object> object(int depth) {
            Map<String, Object> members = new LinkedHashMap<>();
            at++;
            blanks();
            if (take('}')) {
                return members;
            }
            do {
                blanks();
                expect(peek() == '"');
                String name = string();
                blanks();
                expect(take(':'));
                members.put(name, value(depth + 1));
            } while (take(','));
            expect(take('}'));
            return members;
        }

        private List<Object> array(int depth) {
            List<Object> elements = new ArrayList<>();
            at++;
            blanks();
            if (take(']')) {
                return elements;
            }
            do {
                elements.add(value(depth + 1));
            } while (take(','));
            expect(take(']'));
            return elements;
        }

        private String string() {
            StringBuilder string = new StringBuilder();
            at++;
            while (!take('"')) {
                expect(at < text.length() && text.charAt(at) >= ' ');
                char next = text.charAt(at++);
                string.append(next == '\\' ? escape() : next);
            }
            return string.toString();
        }

        private char escape() {
            char kind = peek();
            at++;
            if (kind == 'u') {
                int code = 0;
                for (int end = at + 4; at < end; at++) {
                    int digit = peek() < 128 ? Character.digit(peek(), 16) : -1;
                    expect(digit >= 0);
                    code = code * 16 + digit;
                }
                return (char) code;
            }
            int index = "\"\\/bfnrt".indexOf(kind);
            expect(index >= 0);
            return "\"\\/\b\f\n\r\t".charAt(index);
        }

        private Object scalar() {
            if (word("true")) {
                return true;
            }
            if (word("false")) {
                return false;
            }
            if (word("null")) {
                return null;
            }
            int start = at;
            take('-');
            if (!take('0')) {
                digits();
            }
            if (take('.')) {
                digits();
            }
            if (take('e') || take('E')) {
                if (!take('+')) {
                    take('-');
                }
                digits();
            }
            return Double.valueOf(text.substring(start, at));
        }

        private boolean word(String word) {
            boolean isThere = text.startsWith(word, at);
            at += isThere ? word.length() : 0;
            return isThere;
        }

        private void digits() {
            int start = at;
            while (peek() >= '0' && peek() <= '9') {
                at++;
            }
            expect(at > start);
        }

        /** Leaves out members that are null. */
        static String write(Object value) {
            StringBuilder out = new StringBuilder();
            write(value, out);
            return out.toString();
        }

        private static void write(Object value, StringBuilder out) {
            if (value instanceof Map) {
                String separator = "{";
                for (Map.Entry<?, ?> member : ((Map<?, ?>) value).entrySet()) {
                    if (member.getValue() != null) {
                        out.append(separator);
                        write(member.getKey(), out);
                        out.append(':');
                        write(member.getValue(), out);
                        separator = ",";
                    }
                }
                out.append(separator.equals("{") ? "{}" : "}");
            } else if (value instanceof List) {
                String separator = "[";
                for (Object element : (List<?>) value) {
                    out.append(separator);
                    write(element, out);
                    separator = ",";
                }
                out.append(separator.equals("[") ? "[]" : "]");
            } else if (value instanceof String) {
                out.append('"');
                for (char next : ((String) value).toCharArray()) {
                    if (next == '"' || next == '\\') {
                        out.append('\\').append(next);
                    } else if (next < ' ') {
                        out.append(next < 16 ? "\\u000" : "\\u00").append(Integer.toHexString(next));
                    } else {
                        out.append(next);
                    }
                }
                out.append('"');
            } else {
                out.append(value);
            }
        }
    }
}

package dev.versiongate;

import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.math.BigDecimal;
import java.math.BigInteger;
import java.net.HttpURLConnection;
import java.net.MalformedURLException;
import java.net.URI;
import java.net.URISyntaxException;
import java.net.URL;
import java.nio.ByteBuffer;
import java.nio.charset.CharacterCodingException;
import java.nio.charset.StandardCharsets;
import java.security.GeneralSecurityException;
import java.security.KeyFactory;
import java.security.MessageDigest;
import java.security.Signature;
import java.security.spec.X509EncodedKeySpec;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collections;
import java.util.GregorianCalendar;
import java.util.Iterator;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.TimeZone;
import java.util.UUID;
import java.util.concurrent.Callable;
import java.util.concurrent.CancellationException;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.Executor;
import java.util.concurrent.FutureTask;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.Semaphore;
import java.util.concurrent.ThreadPoolExecutor;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import javax.net.ssl.HttpsURLConnection;
import org.jspecify.annotations.NullMarked;
import org.jspecify.annotations.Nullable;

/**
 * Asks a versiongate server at the start of an app, and says which messages to show.
 *
 * <p>Make one with a {@link Builder} at the start of the app, and keep it until the app ends. Its methods may be called
 * from any thread, and never throw; only wrong arguments throw {@link IllegalArgumentException}. What is not marked
 * {@code Nullable} is not null.
 */
@NullMarked
public final class VersionGate {
    /** A message to show. Two are equal if they say the same. */
    public static final class Message {
        /** The key of the rule that sent the message. */
        public final String id;
        /** What to show, as plain text. */
        public final String title;
        /** What to show below the title, as plain text with line breaks. */
        public final String text;
        /** The address to open, or null. Its scheme is one that an app may open. */
        public final @Nullable String link;
        /** The version that the message is about, or null. */
        public final @Nullable String target;
        /** Whether the app must not go on. */
        public final boolean lockout;
        /** Of a lockout that ends by itself: the seconds that were left when it was given. Else null. */
        public final @Nullable Long left;
        /** The message is shown again no sooner than so many seconds after it was last shown; 0 if it has no such bound. */
        public final long remind;
        /** The message is shown at most so often; 0 if it has no such bound. */
        public final long shows;
        /** Whether the person may choose never to see the message again. */
        public final boolean skippable;

        private final @Nullable VersionGate gate;
        /** When a lockout ends by the clock of the server; null if it has no end. */
        private final @Nullable Long until;

        /**
         * A message that no server sent, for previews and tests. What the person does with it is not recorded.
         *
         * @param link is left out if an app must not open it
         */
        public Message(String id, String title, String text, @Nullable String link, boolean lockout, boolean skippable) {
            this(null, members(id, title, text, link, lockout, skippable), false);
        }

        private static Map<String, Object> members(
            String id, String title, String text, @Nullable String link, boolean lockout, boolean skippable) {
            Map<String, Object> members = new LinkedHashMap<>();
            members.put("id", id);
            members.put("title", title);
            members.put("text", text);
            members.put("link", link);
            members.put("lockout", lockout);
            members.put("skip", skippable);
            return members;
        }

        /** Throws {@link IllegalArgumentException} if the members are not those of a message. */
        private Message(@Nullable VersionGate gate, Map<?, ?> members, boolean isLockoutByDefault) {
            this.gate = gate;
            id = Json.required(members, "id", String.class);
            title = Json.required(members, "title", String.class);
            text = Json.required(members, "text", String.class);
            target = Json.optional(members, "target", String.class);
            String link = Json.optional(members, "link", String.class);
            this.link = link != null && mayBeOpened(link) ? link : null;
            Boolean lockout = Json.optional(members, "lockout", Boolean.class);
            this.lockout = lockout == null ? isLockoutByDefault : lockout;
            until = Json.whole(members, "until", 1);
            left = null;
            Long remind = Json.whole(members, "remind", 1);
            Long shows = Json.whole(members, "shows", 1);
            Boolean skip = Json.optional(members, "skip", Boolean.class);
            this.remind = this.lockout || remind == null ? 0 : remind;
            this.shows = this.lockout || shows == null ? 0 : shows;
            skippable = !this.lockout && skip != null && skip;
        }

        /** A lockout with the time that is left; or, if nobody has signed it, as a plain message. */
        private Message(Message lockout, boolean holds, @Nullable Long left) {
            gate = lockout.gate;
            id = lockout.id;
            title = lockout.title;
            text = lockout.text;
            link = lockout.link;
            target = lockout.target;
            this.lockout = holds;
            until = holds ? lockout.until : null;
            this.left = left;
            remind = 0;
            shows = 0;
            skippable = false;
        }

        /** The person closed the message. */
        public void dismiss() {
            remember(false);
        }

        /** The person does not want to see the message again. The same as {@link #dismiss} if it is not skippable. */
        public void skip() {
            remember(skippable);
        }

        /** The person follows the link. Returns the link, or null if there is none. */
        public @Nullable String opened() {
            remember(false);
            return link;
        }

        private void remember(boolean skip) {
            if (gate != null) {
                gate.remember(this, skip);
            }
        }

        @Override
        public boolean equals(@Nullable Object other) {
            return other instanceof Message && said().equals(((Message) other).said());
        }

        @Override
        public int hashCode() {
            return said().hashCode();
        }

        /** What it says, for logs. */
        @Override
        public String toString() {
            return (lockout ? "lockout " : "message ") + id + ": " + title;
        }

        private List<@Nullable Object> said() {
            return Arrays.asList(id, title, text, link, target, lockout, until, remind, shows, skippable);
        }

        private boolean isRemembered() {
            return remind > 0 || shows > 0 || skippable;
        }

        /** What is remembered of a message, is remembered for this pair. */
        private List<@Nullable String> key() {
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
                if (link.charAt(at) <= ' ' || link.charAt(at) > '~' || link.charAt(at) == '\\') {
                    return false;
                }
            }
            for (String start : STARTS) {
                if (link.length() > start.length() && link.regionMatches(true, 0, start, 0, start.length())) {
                    // A name or a password before the host makes an address look like another one.
                    return !start.endsWith("/") || link.substring(start.length()).split("[/?#]", 2)[0].indexOf('@') < 0;
                }
            }
            return false;
        }
    }

    /**
     * Keeps one text for the library, under the name {@link #NAME}, among the settings of the app. It may fail. The library
     * calls it on a thread of its own, one call at a time. Reading that takes longer than a second has failed, and nothing is
     * written after that until the app ends. Nobody waits for writing.
     */
    public interface Storage {
        /** The text that was written last, or null if there is none. */
        @Nullable String read() throws Exception;

        /** Replaces the text; null deletes it. */
        void write(@Nullable String text) throws Exception;
    }

    /** Asks the server. */
    public interface Transport {
        /**
         * Sends the body to the address with POST and the header {@code Content-Type: application/json}, follows no
         * redirect, and returns the answer. Runs on a thread of its own, which is interrupted when 2 seconds are over, and
         * not waited for.
         */
        Answer ask(String address, byte[] body) throws Exception;
    }

    /** What a server answered. */
    public static final class Answer {
        private final int status;
        private final byte[] body;
        private final @Nullable String date;
        private final Map<String, String> fields;

        /** An answer without a header {@code Date}: the end of a lockout is judged by the clock of the device. */
        public Answer(int status, byte[] body) {
            this(status, body, null);
        }

        /**
         * A body of more than 1 MiB need not be complete: it makes the check fail.
         *
         * @param date the header {@code Date}, or null
         */
        public Answer(int status, byte[] body, @Nullable String date) {
            this(status, body, date, Collections.emptyMap());
        }

        /**
         * The same with the headers that sign a lockout, which are read if there are public keys.
         *
         * @param fields the headers by their names in lower case; several of one name are joined by a comma
         */
        public Answer(int status, byte[] body, @Nullable String date, Map<String, String> fields) {
            this.status = status;
            this.body = body;
            this.date = date;
            this.fields = fields;
        }
    }

    /** What a check did. Checks that share one question are one. */
    public static final class Report {
        /** Whether the server was asked. */
        public enum Outcome {
            /** A question was sent, or tried. */
            ASKED,
            /** It was too early for a question, so what was kept counts. */
            KEPT
        }

        /** Whether the server was asked. */
        public final Outcome outcome;
        /** The status of HTTP, or 0 if the server did not answer. */
        public final int status;
        /** Why the check has failed, or null if it has not. */
        public final @Nullable String fault;
        /** How long the check took. */
        public final long milliseconds;
        /** How many messages it gave. */
        public final int messages;

        private Report(Outcome outcome, int status, @Nullable String fault, long begun, int messages) {
            this.outcome = outcome;
            this.status = status;
            this.fault = fault;
            milliseconds = TimeUnit.NANOSECONDS.toMillis(System.nanoTime() - begun);
            this.messages = messages;
        }
    }

    /** Is told what each check did. */
    public interface Observer {
        /** Runs on the thread of the check, which waits for it. */
        void onCheck(Report report);
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
        private @Nullable Transport transport;
        private Clock clock = SYSTEM_CLOCK;
        private @Nullable Observer observer;
        private final List<String> publicKeys = new ArrayList<>();

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
        public Builder version(@Nullable String version) {
            members.put("version", version);
            return this;
        }

        /** The build number of the app. */
        public Builder buildNumber(@Nullable String number) {
            members.put("build", number);
            return this;
        }

        /** The platform, which finds the releases and the store link of the app: {@code android}, {@code linux}. */
        public Builder platform(@Nullable String platform) {
            members.put("platform", platform);
            return this;
        }

        /** The version of the operating system. */
        public Builder os(@Nullable String version) {
            members.put("os", version);
            return this;
        }

        /** The country, such as {@code AT}. */
        public Builder region(@Nullable String region) {
            members.put("region", region);
            return this;
        }

        /** The language tag, such as {@code de-AT}. */
        public Builder language(@Nullable String language) {
            members.put("language", language);
            return this;
        }

        /** An attribute that rules can ask for. Null or empty text is not sent. */
        public Builder attribute(String name, @Nullable String value) {
            return put(name, value);
        }

        /** An attribute that rules can ask for. A whole number is sent as one: 3.0 as 3. */
        public Builder attribute(String name, @Nullable Number value) {
            return put(name, number(name, value));
        }

        /** An attribute that rules can ask for. */
        public Builder attribute(String name, boolean value) {
            return put(name, value);
        }

        private Builder put(String name, @Nullable Object value) {
            attributes.put(named(name), value);
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

        /** Is told what each check did. Without one, the first fault is said on {@link System#err} if assertions are on. */
        public Builder observer(Observer observer) {
            require(observer != null, "the observer is null");
            this.observer = observer;
            return this;
        }

        /**
         * From now on lockouts hold only if this key has signed them, or another one that is given: all others are plain
         * messages.
         *
         * @param key the line that {@code versiongate lockout-key new} prints
         */
        public Builder publicKey(String key) {
            require(key != null && LockoutSignature.KEY.matcher(key).matches(),
                "the public key is " + key + ": give the line that versiongate lockout-key new prints");
            publicKeys.add(key);
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
    private static final int MOST_MESSAGES = 100;
    private static final int MOST_REMEMBERED = 256;
    private static final String[] FIELDS = {"Bundle", "Version", "Build", "Platform", "OS", "Region", "Install"};
    private static final Pattern FIELD_VALUE = Pattern.compile("[!-~]([ -~]*[!-~])?");
    private static final Clock SYSTEM_CLOCK = () -> System.currentTimeMillis() / 1000;
    /** One for each question under way, in the whole process. It is given back when the time of the question is over. */
    private static final Semaphore QUESTIONS = new Semaphore(8);

    private final String address;
    /** What the server is told; guarded by the lock, like the attributes. */
    private final Map<String, Object> client = new LinkedHashMap<>();
    private final Map<String, Object> attributes = new LinkedHashMap<>();
    private final @Nullable String version;
    private final @Nullable String build;
    private final long maximumAge;
    private final @Nullable Transport transport;
    private final Clock clock;
    private final @Nullable Observer observer;
    private final String bundle;
    private final List<String> publicKeys;
    private final Kept kept;
    private final AtomicBoolean hasSaidFault = new AtomicBoolean();

    /** Guards what is below. Nobody holds it while a question is under way. */
    private final Object lock = new Object();
    /** What is kept; null until it is read. */
    private @Nullable State state;
    /** What is in the storage was not read in time, so it is not replaced. */
    private boolean isUnread;
    private @Nullable Long asked;
    private @Nullable Question question;

    private VersionGate(Builder builder) {
        address = builder.address;
        for (String name : Arrays.asList("bundle", "version", "build", "platform", "os", "region", "language")) {
            client.put(name, builder.members.get(name));
        }
        version = known(builder.members.get("version"));
        build = known(builder.members.get("build"));
        attributes.putAll(builder.attributes);
        maximumAge = TimeUnit.DAYS.toSeconds(builder.maximumAge);
        transport = builder.transport;
        clock = builder.clock;
        observer = builder.observer;
        bundle = (String) builder.members.get("bundle");
        publicKeys = new ArrayList<>(builder.publicKeys);
        kept = new Kept(builder.storage);
    }

    /**
     * A gate that gives these messages and asks no server, to try them inside the app. It keeps nothing.
     *
     * @param answer what {@code /v1/check} answers: {@code {"messages": [...]}}. All its messages must be readable
     */
    public static VersionGate preview(String answer) {
        require(answer != null, "the preview is missing: " + PREVIEW);
        Answer given = new Answer(HttpURLConnection.HTTP_OK, answer.getBytes(StandardCharsets.UTF_8));
        VersionGate gate = new Builder("https://preview.invalid", "preview", new Unkept())
            .transport((address, body) -> given).observer(report -> {}).build();
        Reading reading = new Reading(gate, given);
        require(reading.fault == null, "the preview is no answer: " + reading.fault + "; " + PREVIEW);
        require(reading.unreadable == 0, "message " + reading.unreadable + " of the preview cannot be read; " + PREVIEW);
        return gate;
    }

    private static final String PREVIEW =
        "give {\"messages\":[{\"id\":\"news\",\"title\":\"News\",\"text\":\"Text\"}]}, as /v1/check answers";

    /** Keeps nothing. */
    private static final class Unkept implements Storage {
        @Override
        public @Nullable String read() {
            return null;
        }

        @Override
        public void write(@Nullable String text) {}
    }

    /** The language tag, such as {@code de-AT}, or null. The next question sends it. */
    public void language(@Nullable String language) {
        synchronized (lock) {
            client.put("language", language);
        }
    }

    /** The country, such as {@code AT}, or null. The next question sends it. */
    public void region(@Nullable String region) {
        synchronized (lock) {
            client.put("region", region);
        }
    }

    /** An attribute that rules can ask for, or null for none. The next question sends it. */
    public void attribute(String name, @Nullable String value) {
        put(name, value);
    }

    /** An attribute that rules can ask for, or null for none. The next question sends it. */
    public void attribute(String name, @Nullable Number value) {
        put(name, number(name, value));
    }

    /** An attribute that rules can ask for. The next question sends it. */
    public void attribute(String name, boolean value) {
        put(name, value);
    }

    private void put(String name, @Nullable Object value) {
        synchronized (lock) {
            attributes.put(named(name), value);
        }
    }

    private static String named(String name) {
        require(name != null && !name.isEmpty(), "an attribute has no name");
        return name;
    }

    /** A number as JSON has it: 3.0 is 3. */
    private static @Nullable BigDecimal number(String name, @Nullable Number value) {
        if (value == null) {
            return null;
        }
        boolean isWhole = (value instanceof Double || value instanceof Float)
            && value.doubleValue() == Math.rint(value.doubleValue()) && Math.abs(value.doubleValue()) <= Json.MOST;
        try {
            return isWhole ? BigDecimal.valueOf(value.longValue()) : new BigDecimal(value.toString());
        } catch (NumberFormatException error) {
            throw new IllegalArgumentException(
                "the attribute " + name + " is " + value + ", which is no number in JSON", error);
        }
    }

    /** Empty text counts as not known. */
    private static @Nullable String known(@Nullable Object text) {
        return "".equals(text) ? null : (String) text;
    }

    /** The messages to show now, in their order. Waits for the server, at most 2 seconds: not for the main thread. */
    public List<Message> check() {
        return check(false);
    }

    /**
     * The messages to show now, in their order. Waits for the server, at most 2 seconds: not for the main thread.
     *
     * @param force asks also if the last question is less than 15 minutes old: for a button "Try again", and whenever a
     *     lockout is shown
     */
    public List<Message> check(boolean force) {
        return check(force, false);
    }

    /**
     * Checks because the person asked, by a button "Check for updates": asks as a forced check does, and also gives what
     * hints hide and what a rollout still holds back.
     */
    public List<Message> checkManually() {
        return check(true, true);
    }

    private List<Message> check(boolean force, boolean isManual) {
        long begun = System.nanoTime();
        List<Message> messages = null;
        Question current;
        synchronized (lock) {
            load();
            if (question == null || isManual && !question.isManual) {
                long now = now();
                if (!force && isEarly(now)) {
                    messages = lockout(state, now);
                } else {
                    asked = now;
                    question = ask(begun + LIMIT, isManual);
                }
            }
            current = question;
        }
        if (messages != null) {
            tell(new Report(Report.Outcome.KEPT, 0, null, begun, messages.size()));
            return messages;
        }
        Reading reading = current.await();
        Report report = null;
        synchronized (lock) {
            if (current.messages == null) {
                current.messages = reading.fault == null ? show(reading, current, now()) : lockout(current.state, now());
                report = new Report(Report.Outcome.ASKED, reading.status, reading.fault, begun, current.messages.size());
            }
            messages = current.messages;
            if (question == current) {
                question = null;
            }
        }
        if (report != null) {
            tell(report);
        }
        return messages;
    }

    /** Less than 15 minutes after the last question, and no lockout that was kept has ended since. */
    private boolean isEarly(long now) {
        if (asked == null || asked > now || now - asked >= PAUSE) {
            return false;
        }
        KeptAnswer answer = state.answer;
        return answer == null || answer.left == null || asked - answer.at >= answer.left || now - answer.at < answer.left;
    }

    private void tell(Report report) {
        if (observer != null) {
            try {
                observer.onCheck(report);
            } catch (RuntimeException error) {
                // The messages are given whatever the app makes of the report.
            }
            return;
        }
        boolean isDebugBuild = false;
        assert isDebugBuild = true;
        if (isDebugBuild && report.fault != null && !hasSaidFault.getAndSet(true)) {
            System.err.println("versiongate: " + address + ": " + report.fault);
        }
    }

    /** Checks in the background, and gives the messages to the callback, on an executor such as that of the main thread. */
    public void check(Executor executor, Callback callback) {
        check(false, executor, callback);
    }

    /** The same, and {@code force} asks also if the last question is less than 15 minutes old. */
    public void check(boolean force, Executor executor, Callback callback) {
        check(force, false, executor, callback);
    }

    /** The same as {@link #checkManually()}, in the background. */
    public void checkManually(Executor executor, Callback callback) {
        check(true, true, executor, callback);
    }

    private void check(boolean force, boolean isManual, Executor executor, Callback callback) {
        require(executor != null, "the executor is null");
        require(callback != null, "the callback is null");
        start(() -> give(check(force, isManual), executor, callback), () -> give(Collections.emptyList(), executor, callback));
    }

    private static void give(List<Message> messages, Executor executor, Callback callback) {
        try {
            executor.execute(() -> callback.onMessages(messages));
        } catch (RejectedExecutionException error) {
            // The app has shut the executor down: it does not wait for messages any more.
        }
    }

    /**
     * The headers for requests to the app's own API, from which a gateway there knows a client that is locked out. They say
     * what a check says, with the same id of the installation. One that is not printable ASCII is left out. Waits for the
     * storage, at most a second: not for the main thread.
     */
    public Map<String, String> fields() {
        Map<String, String> fields = new LinkedHashMap<>();
        synchronized (lock) {
            load();
            for (String name : FIELDS) {
                Object value = name.equals("Install") ? install() : client.get(name.toLowerCase(Locale.ROOT));
                if (value != null && FIELD_VALUE.matcher((String) value).matches()) {
                    fields.put("App-" + name, (String) value);
                }
            }
        }
        return fields;
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
            kept.delete();
        }
    }

    /**
     * Waits until what the library remembers is written, for at most 2 seconds. All writing is in the background, so a
     * program that ends right after a check, or after what the person did, waits for it.
     */
    public void finishWriting() {
        try {
            get(kept.last(), System.nanoTime() + LIMIT);
        } catch (TimeoutException | ExecutionException | CancellationException error) {
            // What is in memory counts until the app ends.
        }
    }

    /** The id of the installation, which is made if there is none. */
    private String install() {
        if (state.install == null) {
            state.install = UUID.randomUUID().toString();
            save();
        }
        return state.install;
    }

    private Question ask(long deadline, boolean isManual) {
        Map<String, Object> members = new LinkedHashMap<>(client);
        members.put("install", install());
        members.put("manual", isManual ? true : null);
        for (Map.Entry<String, Object> attribute : attributes.entrySet()) {
            if (!members.containsKey(attribute.getKey())) {
                members.put(attribute.getKey(), attribute.getValue());
            }
        }
        for (Map.Entry<String, Object> member : members.entrySet()) {
            member.setValue("".equals(member.getValue()) ? null : member.getValue());
        }
        byte[] body = Json.write(members).getBytes(StandardCharsets.UTF_8);
        boolean isAllowed = QUESTIONS.tryAcquire();
        AtomicBoolean isHeld = new AtomicBoolean(isAllowed);
        Runnable release = () -> {
            if (isHeld.getAndSet(false)) {
                QUESTIONS.release();
            }
        };
        Http http = transport == null ? new Http() : null;
        Transport asking = transport == null ? http : transport;
        Question question = new Question(state, isManual, deadline, () -> {
            try {
                return new Reading(this, asking.ask(address, body));
            } finally {
                // Before those who wait get the answer, and ask again.
                release.run();
            }
        }, () -> {
            release.run();
            if (http != null) {
                // To disconnect waits for a read that is under way in the body.
                start(http::disconnect, () -> {});
            }
        });
        if (!isAllowed || !start(question.answer, release)) {
            question.answer.cancel(false);
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

    private List<Message> show(Reading reading, Question question, long now) {
        List<Message> shown = new ArrayList<>();
        State state = question.state;
        state.answer = null;
        // Who plays a signed answer again can hold back its time, which is not signed.
        boolean isSigned = reading.expires != null;
        long time = Math.max(reading.sent == null ? now : reading.sent, isSigned ? now - TimeUnit.DAYS.toSeconds(1) : 0);
        for (Message message : reading.messages) {
            if (message.lockout) {
                Long left = message.until == null ? null : (Long) Math.max(0, message.until - time);
                if (isSigned && left != null && left == 0) {
                    continue;
                }
                shown.add(new Message(message, true, left));
                if (maximumAge > 0) {
                    state.answer = new KeptAnswer(now, version, build, left, reading.expires, message);
                }
                break;
            }
            Memory memory = state.memories.get(message.key());
            if (memory != null && !question.isManual && memory.hides(message, now)) {
                continue;
            }
            shown.add(message);
            if (message.isRemembered()) {
                state.put(message.key(), memory == null ? 1 : memory.shown + 1, now, memory != null && memory.skipped);
            }
        }
        if (state == this.state) {
            save();
        }
        return Collections.unmodifiableList(shown);
    }

    private List<Message> lockout(State state, long now) {
        KeptAnswer answer = state.answer;
        boolean holds = answer != null && maximumAge > 0 && answer.at <= now && now - answer.at <= maximumAge
            && (answer.left == null || now - answer.at < answer.left)
            && (publicKeys.isEmpty() || answer.expires != null && now < answer.expires)
            && same(answer.version, version) && same(answer.build, build);
        if (!holds) {
            return Collections.emptyList();
        }
        Long left = answer.left == null ? null : (Long) (answer.at + answer.left - now);
        return Collections.singletonList(new Message(answer.lockout, true, left));
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
            save();
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
            String text = get(kept.read(), System.nanoTime() + STORAGE_LIMIT);
            if (text != null) {
                state.decode(this, Json.object(Json.read(text)));
            }
        } catch (TimeoutException error) {
            isUnread = true;
        } catch (ExecutionException | CancellationException | IllegalArgumentException error) {
            // What cannot be read is the same as nothing kept.
        }
    }

    private void save() {
        if (!isUnread) {
            kept.write(state.encode());
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
        final boolean isManual;
        final FutureTask<Reading> answer;
        /** What the question gave; null until the first of those who wait has seen to it. */
        List<Message> messages;
        private final long deadline;
        private final Runnable giveUp;

        Question(State state, boolean isManual, long deadline, Callable<Reading> asking, Runnable giveUp) {
            this.state = state;
            this.isManual = isManual;
            this.deadline = deadline;
            this.giveUp = giveUp;
            answer = new FutureTask<>(asking);
        }

        Reading await() {
            try {
                return get(answer, deadline);
            } catch (TimeoutException error) {
                if (answer.cancel(true)) {
                    giveUp.run();
                }
                return new Reading("no answer within 2 seconds");
            } catch (CancellationException error) {
                return new Reading("no thread is left to ask, or the time of another check for it was over");
            } catch (ExecutionException error) {
                Throwable cause = error.getCause();
                return new Reading(cause.getMessage() == null ? cause.toString() : cause.getMessage());
            }
        }
    }

    /** What an answer says. */
    private static final class Reading {
        private static final Pattern DATE =
            Pattern.compile("..., (\\d\\d) (...) (\\d{4}) (\\d\\d):(\\d\\d):(\\d\\d) GMT");
        private static final List<String> MONTHS = Arrays.asList(
            "Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec");

        /** Why the check has failed, or null. */
        final String fault;
        final int status;
        final List<Message> messages = new ArrayList<>();
        /** The first element that is no message, from 1; 0 if all are. */
        int unreadable;
        /** When the signature of a lockout expires, or null if nothing is signed. */
        final @Nullable Long expires;
        /** When the server sent it by its own clock, or null. */
        final Long sent;

        Reading(String fault) {
            this.fault = fault;
            status = 0;
            sent = null;
            expires = null;
        }

        Reading(VersionGate gate, Answer answer) {
            status = answer == null ? 0 : answer.status;
            sent = answer == null || answer.date == null ? null : seconds(answer.date);
            fault = answer == null ? "the transport gives no answer" : read(gate, answer);
            expires = hasLockout() && !gate.publicKeys.isEmpty() ? LockoutSignature.expiry(answer, gate) : null;
            for (int index = 0; expires == null && !gate.publicKeys.isEmpty() && index < messages.size(); index++) {
                if (messages.get(index).lockout) {
                    messages.set(index, new Message(messages.get(index), false, null));
                }
            }
        }

        private boolean hasLockout() {
            for (Message message : messages) {
                if (message.lockout) {
                    return true;
                }
            }
            return false;
        }

        private String read(VersionGate gate, Answer answer) {
            if (status != HttpURLConnection.HTTP_OK) {
                return "the server answers with status " + status;
            }
            if (answer.body == null) {
                return "the transport gives no body";
            }
            if (answer.body.length > LARGEST_BODY) {
                return "the answer is longer than 1 MiB";
            }
            Object root;
            try {
                root = Json.read(answer.body);
            } catch (IllegalArgumentException error) {
                return "the answer is no JSON";
            }
            Object elements = root instanceof Map ? ((Map<?, ?>) root).get("messages") : null;
            if (!(elements instanceof List)) {
                return "the answer has no list of messages";
            }
            List<?> list = (List<?>) elements;
            for (int index = 0; index < Math.min(list.size(), MOST_MESSAGES); index++) {
                try {
                    messages.add(new Message(gate, Json.object(list.get(index)), false));
                } catch (IllegalArgumentException error) {
                    // The element is no message. The rest stands.
                    unreadable = unreadable == 0 ? index + 1 : unreadable;
                }
            }
            return null;
        }

        private static Long seconds(String date) {
            Matcher parts = DATE.matcher(date);
            if (!parts.matches() || !MONTHS.contains(parts.group(2))) {
                return null;
            }
            GregorianCalendar calendar = new GregorianCalendar(TimeZone.getTimeZone("GMT"));
            calendar.clear();
            calendar.set(Integer.parseInt(parts.group(3)), MONTHS.indexOf(parts.group(2)), Integer.parseInt(parts.group(1)),
                Integer.parseInt(parts.group(4)), Integer.parseInt(parts.group(5)), Integer.parseInt(parts.group(6)));
            return calendar.getTimeInMillis() / 1000;
        }
    }

    /** Calls the storage, in order, on one thread that ends when there is nothing to do. What hangs there holds nobody up. */
    private static final class Kept {
        private final Storage storage;
        private final ThreadPoolExecutor thread =
            new ThreadPoolExecutor(0, 1, 0, TimeUnit.SECONDS, new LinkedBlockingQueue<>(), VersionGate::daemon);
        /** What is to be written, and whether all that was there is deleted before it; guarded by this object. */
        private String text;
        private boolean deletes;
        private FutureTask<String> last = new FutureTask<>(() -> null);
        /** The text in the storage, or null if it is not known. */
        private volatile String known;

        Kept(Storage storage) {
            this.storage = storage;
            last.run();
        }

        FutureTask<String> read() {
            return call(() -> known = storage.read());
        }

        synchronized void write(String newText) {
            boolean isWaiting = text != null || deletes;
            text = newText;
            if (!isWaiting) {
                last = call(this::writeNewest);
            }
        }

        synchronized void delete() {
            text = null;
            deletes = true;
            last = call(this::writeNewest);
        }

        synchronized FutureTask<String> last() {
            return last;
        }

        private FutureTask<String> call(Callable<String> work) {
            FutureTask<String> task = new FutureTask<>(work);
            try {
                thread.execute(task);
            } catch (OutOfMemoryError error) {
                // The system gives the process no further thread. The next call tries again.
            }
            return task;
        }

        private String writeNewest() throws Exception {
            String newest;
            boolean deletesBefore;
            synchronized (this) {
                newest = text;
                deletesBefore = deletes;
                text = null;
                deletes = false;
            }
            if (deletesBefore) {
                known = null;
                storage.write(null);
            }
            if (newest != null && !newest.equals(known)) {
                known = null;
                storage.write(newest);
                known = newest;
            }
            return null;
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
        /** For how many seconds the lockout holds, or null if it has no end. */
        final Long left;
        /** When its signature expires, or null if it has none. */
        final Long expires;
        final Message lockout;

        KeptAnswer(long at, String version, String build, Long left, Long expires, Message lockout) {
            this.at = at;
            this.version = version;
            this.build = build;
            this.left = left;
            this.expires = expires;
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
                    Json.optional(kept, "build", String.class), Json.whole(kept, "left", 0),
                    Json.whole(kept, "expires", 0), lockout);
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
                kept.put("left", answer.left);
                kept.put("expires", answer.expires);
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

    /** Asks with {@link HttpURLConnection}, in a connection of its own. One object is for one question at a time. */
    static final class Http implements Transport {
        private volatile HttpURLConnection connection;

        @Override
        public Answer ask(String address, byte[] body) throws IOException, InterruptedException {
            long deadline = System.nanoTime() + LIMIT;
            int pause = (int) TimeUnit.NANOSECONDS.toMillis(LIMIT);
            HttpURLConnection connection = (HttpURLConnection) new URL(address).openConnection();
            this.connection = connection;
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
                byte[] read = status == HttpURLConnection.HTTP_OK ? body(connection, deadline) : new byte[0];
                return new Answer(status, read, connection.getHeaderField("Date"), fields(connection));
            } finally {
                disconnect();
            }
        }

        private static Map<String, String> fields(HttpURLConnection connection) {
            Map<String, String> fields = new LinkedHashMap<>();
            for (Map.Entry<String, List<String>> field : connection.getHeaderFields().entrySet()) {
                if (field.getKey() != null) {
                    String name = field.getKey().toLowerCase(Locale.ROOT);
                    String before = fields.get(name);
                    for (String value : field.getValue()) {
                        before = before == null ? value : before + ", " + value;
                    }
                    fields.put(name, before);
                }
            }
            return fields;
        }

        /** Ends a question that another thread waits for: in its head at once, in its body after the read under way. */
        void disconnect() {
            HttpURLConnection connection = this.connection;
            if (connection != null) {
                connection.disconnect();
            }
        }

        private byte[] body(HttpURLConnection connection, long deadline) throws IOException, InterruptedException {
            String encoding = connection.getContentEncoding();
            if (encoding != null && !encoding.equalsIgnoreCase("identity")) {
                throw new IOException("the answer has the Content-Encoding " + encoding + ", which was not asked for");
            }
            boolean isOfJDK = connection.getClass().getName().startsWith("sun.");
            if (isOfJDK && connection.getHeaderField("Transfer-Encoding") != null) {
                return chunks(connection, deadline);
            }
            ByteArrayOutputStream read = new ByteArrayOutputStream();
            byte[] buffer = new byte[8192];
            InputStream in = connection.getInputStream();
            int count = in.read(buffer);
            while (count >= 0 && read.size() <= LARGEST_BODY && deadline - System.nanoTime() > 0) {
                read.write(buffer, 0, count);
                count = in.read(buffer);
            }
            if (count >= 0 && read.size() <= LARGEST_BODY) {
                throw new IOException("no answer within 2 seconds");
            }
            if (read.size() < connection.getContentLength()) {
                throw new IOException("the answer ends before its Content-Length");
            }
            return read.toByteArray();
        }

        /**
         * Reads chunks of which something has come, until they are JSON. The JDK reads the trailers behind the last chunk within
         * one read, or when it disconnects, and keeps them: without an end they would fill the memory of the process. So a
         * connection with trailers is left to the collector of garbage, which closes it.
         */
        private byte[] chunks(HttpURLConnection connection, long deadline) throws IOException, InterruptedException {
            int fields = 1;
            while (connection.getHeaderFieldKey(fields) != null) {
                fields++;
            }
            this.connection = null;
            ByteArrayOutputStream read = new ByteArrayOutputStream();
            byte[] buffer = new byte[8192];
            InputStream in = connection.getInputStream();
            // Over TLS nothing is available before something is read.
            boolean isTLS = connection instanceof HttpsURLConnection;
            long pause = 1;
            while (read.size() <= LARGEST_BODY) {
                int ready = in.available();
                if (ready > 0) {
                    read.write(buffer, 0, in.read(buffer, 0, Math.min(ready, buffer.length)));
                    pause = 1;
                } else if (connection.getHeaderFieldKey(fields) != null) {
                    return read.toByteArray();
                } else if (isJSON(read.toByteArray()) || deadline - System.nanoTime() < 0) {
                    break;
                } else if (isTLS) {
                    int next = in.read();
                    if (next < 0) {
                        break;
                    }
                    read.write(next);
                } else {
                    Thread.sleep(pause);
                    pause *= 2;
                }
            }
            this.connection = connection;
            return read.toByteArray();
        }

        private static boolean isJSON(byte[] text) {
            try {
                Json.read(text);
                return true;
            } catch (IllegalArgumentException error) {
                return false;
            }
        }
    }

    /** The signature of a lockout: RFC 9421 with RFC 9530, in the one form that the server writes. */
    private static final class LockoutSignature {
        /** A public key of P-256: SubjectPublicKeyInfo in base64. */
        static final Pattern KEY = Pattern.compile("MFkwEwYHKoZIzj0CAQYIKoZIzj0DAQcDQgAE[A-Za-z0-9+/]{86}==");

        private static final Pattern INPUT = Pattern.compile("lockout=(\\(\"content-digest\" \"policy-bundle\"\\)"
            + ";created=([0-9]{1,12});expires=([0-9]{1,12});keyid=\"([0-9a-f]{16})\";alg=\"ecdsa-p256-sha256\")");
        private static final Pattern SIGNATURE = Pattern.compile("lockout=:([A-Za-z0-9+/]{86}==):");
        private static final Pattern DIGEST = Pattern.compile("sha-256=:([A-Za-z0-9+/]{43}=):");
        private static final String BASE64 = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

        /** When a valid signature of an answer expires, or null if there is none, whatever the reason is. */
        static Long expiry(Answer answer, VersionGate gate) {
            try {
                return verified(answer, gate.bundle, gate.publicKeys, gate.now());
            } catch (GeneralSecurityException | RuntimeException error) {
                return null;
            }
        }

        private static Long verified(Answer answer, String bundle, List<String> keys, long now)
            throws GeneralSecurityException {
            String digest = field(answer, "content-digest");
            String named = field(answer, "policy-bundle");
            Matcher input = INPUT.matcher(field(answer, "signature-input"));
            Matcher signature = SIGNATURE.matcher(field(answer, "signature"));
            Matcher hash = DIGEST.matcher(digest);
            if (!input.matches() || !signature.matches() || !hash.matches() || !lower(named).equals(lower(bundle))) {
                return null;
            }
            long expires = Long.parseLong(input.group(3));
            if (Long.parseLong(input.group(2)) - TimeUnit.DAYS.toSeconds(1) > now || expires <= now) {
                return null;
            }
            MessageDigest sha256 = MessageDigest.getInstance("SHA-256");
            if (!MessageDigest.isEqual(sha256.digest(answer.body), bytes(hash.group(1)))) {
                return null;
            }
            String base = "\"content-digest\": " + digest + "\n\"policy-bundle\": " + named + "\n\"@signature-params\": "
                + input.group(1);
            for (String text : keys) {
                byte[] key = bytes(text);
                if (!hex(sha256.digest(key), 8).equals(input.group(4))) {
                    continue;
                }
                Signature verifier = Signature.getInstance("SHA256withECDSA");
                verifier.initVerify(KeyFactory.getInstance("EC").generatePublic(new X509EncodedKeySpec(key)));
                verifier.update(base.getBytes(StandardCharsets.UTF_8));
                if (verifier.verify(der(bytes(signature.group(1))))) {
                    return expires;
                }
            }
            return null;
        }

        private static String field(Answer answer, String name) {
            String value = answer.fields.get(name);
            return value == null ? "" : value;
        }

        /** Only the letters of ASCII. */
        private static String lower(String text) {
            char[] letters = text.toCharArray();
            for (int at = 0; at < letters.length; at++) {
                letters[at] += letters[at] >= 'A' && letters[at] <= 'Z' ? 'a' - 'A' : 0;
            }
            return new String(letters);
        }

        private static String hex(byte[] bytes, int count) {
            StringBuilder out = new StringBuilder();
            for (int at = 0; at < count; at++) {
                out.append(Character.forDigit(bytes[at] >> 4 & 15, 16)).append(Character.forDigit(bytes[at] & 15, 16));
            }
            return out.toString();
        }

        /** Decodes base64, which Android has for all versions of Java only since 8.0. */
        private static byte[] bytes(String base64) {
            ByteArrayOutputStream out = new ByteArrayOutputStream();
            int bits = 0;
            int count = 0;
            for (int at = 0; at < base64.length() && base64.charAt(at) != '='; at++) {
                bits = bits << 6 | BASE64.indexOf(base64.charAt(at));
                count += 6;
                if (count >= 8) {
                    count -= 8;
                    out.write(bits >> count);
                }
            }
            return out.toByteArray();
        }

        /** The two numbers of a signature as JCA reads them on every Android. */
        private static byte[] der(byte[] numbers) throws GeneralSecurityException {
            ByteArrayOutputStream out = new ByteArrayOutputStream();
            for (int half = 0; half < 2; half++) {
                BigInteger number = new BigInteger(1, Arrays.copyOfRange(numbers, half * 32, half * 32 + 32));
                // Java 15 to 18 took zeros for a signature: CVE-2022-21449.
                if (number.signum() == 0) {
                    throw new GeneralSecurityException("a zero");
                }
                byte[] bytes = number.toByteArray();
                out.write(2);
                out.write(bytes.length);
                out.write(bytes, 0, bytes.length);
            }
            byte[] bytes = out.toByteArray();
            byte[] whole = new byte[bytes.length + 2];
            whole[0] = 0x30;
            whole[1] = (byte) bytes.length;
            System.arraycopy(bytes, 0, whole, 2, bytes.length);
            return whole;
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

        /** Reads UTF-8, and skips one byte order mark before it. */
        static Object read(byte[] text) {
            try {
                String whole = StandardCharsets.UTF_8.newDecoder().decode(ByteBuffer.wrap(text)).toString();
                return read(whole.startsWith("\ufeff") ? whole.substring(1) : whole);
            } catch (CharacterCodingException error) {
                throw new IllegalArgumentException("not UTF-8", error);
            }
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
            require(!(value instanceof String) || isText((String) value), "a surrogate stands alone");
            return type.cast(value);
        }

        private static boolean isText(String string) {
            for (int at = 0; at < string.length(); at++) {
                boolean isPair = at + 1 < string.length() && Character.isSurrogatePair(string.charAt(at), string.charAt(at + 1));
                if (Character.isSurrogate(string.charAt(at)) && !isPair) {
                    return false;
                }
                at += isPair ? 1 : 0;
            }
            return true;
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

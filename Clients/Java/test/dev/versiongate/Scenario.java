package dev.versiongate;

import java.nio.charset.StandardCharsets;
import java.security.GeneralSecurityException;
import java.security.KeyPair;
import java.security.KeyPairGenerator;
import java.security.Signature;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collections;
import java.util.HashMap;
import java.util.Iterator;
import java.util.List;
import java.util.Map;
import java.util.concurrent.Callable;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.FutureTask;
import org.json.JSONArray;
import org.json.JSONException;
import org.json.JSONObject;

/** Runs one scenario: Clients/scenarios/README.md says what its steps mean. */
final class Scenario {
    /** What the library talks to, and whoever answers there. */
    interface Server {
        String address();

        /** What the library asks with; null for its own, and then the questions are known from the requests. */
        VersionGate.Transport transport();

        /** A scenario begins with this app, or a start has changed the app. */
        void app(String scenarioThatBegins, JSONObject app) throws Exception;

        void answer(JSONObject answer) throws Exception;

        /** The bodies that came since the last call, or null if the server cannot be reached. */
        JSONArray requests(boolean asked) throws Exception;
    }

    /** A step that differs. */
    static final class Difference extends Exception {
        private static final long serialVersionUID = 1;

        final int step;

        Difference(int step, String why, Throwable cause) {
            super(why, cause);
            this.step = step;
        }
    }

    /** What the observer is told when no answer came in time. */
    private static final String TOO_LATE = "no answer within 2 seconds";
    private static final String DEFAULT_APP =
        "{'bundle': 'com.example.doto', 'version': '1.0', 'build': '42', 'platform': 'ios'}";
    /** A step may have several of these, which happen in this order. */
    private static final List<String> COMBINED = Arrays.asList("advance", "answer", "start", "check", "fields");
    private static final String[] CHECK = {
        "advance", "answer", "start", "check", "asks", "sends", "shows", "links", "left", "gives", "reports",
    };

    private final Server server;
    private final Store store = new Store();
    private long now = 1790000000;
    private JSONObject app;
    /** The attributes of this start, as they are now. */
    private JSONObject attributes;
    private VersionGate gate;
    private final List<VersionGate.Report> reports = Collections.synchronizedList(new ArrayList<>());
    /** Whether an answer was too late for a check, of which a busy machine may be the cause. */
    private volatile boolean wasLate;
    private final List<VersionGate.Message> given = new ArrayList<>();

    /** The questions of all checks, and how many of them belong to checks before this one. */
    private final List<JSONObject> questions = Collections.synchronizedList(new ArrayList<>());
    private volatile List<Thread> together = Collections.emptyList();

    static {
        // So that no check of a scenario, which has two seconds, waits until the JDK has loaded its cryptography.
        try {
            KeyPair pair = KeyPairGenerator.getInstance("EC").generateKeyPair();
            Signature signature = Signature.getInstance("SHA256withECDSA");
            signature.initSign(pair.getPrivate());
            byte[] signed = signature.sign();
            signature.initVerify(pair.getPublic());
            signature.verify(signed);
        } catch (GeneralSecurityException error) {
            throw new AssertionError(error);
        }
    }

    private Scenario(Server server) {
        this.server = server;
    }

    static void run(JSONObject scenario, Server server) throws Exception {
        only(scenario, "name", "rule", "app", "steps");
        Scenario running = new Scenario(server);
        running.app = new JSONObject(DEFAULT_APP);
        running.change(scenario.has("app") ? scenario.getJSONObject("app") : new JSONObject());
        server.app(scenario.getString("name"), running.app);
        running.start();
        JSONArray steps = scenario.getJSONArray("steps");
        for (int step = 1; step <= steps.length(); step++) {
            try {
                running.step(steps.getJSONObject(step - 1));
            } catch (Exception | AssertionError error) {
                String late = running.wasLate ? " (" + TOO_LATE + ")" : "";
                throw new Difference(step, error.getMessage() + late, error);
            }
        }
    }

    private void step(JSONObject step) throws Exception {
        boolean isCombined = false;
        for (String kind : COMBINED) {
            isCombined |= step.has(kind);
        }
        if (isCombined) {
            only(step, step.has("check") ? CHECK : COMBINED.toArray(new String[0]));
            combined(step);
            return;
        }
        if (step.has("storage") || step.has("stored")) {
            finishWriting();
        }
        if (step.has("preview")) {
            only(step, "preview", "refused");
            preview(step.get("preview").toString(), step.has("refused") && step.getBoolean("refused"));
        } else if (step.has("set")) {
            only(step, "set");
            set(step.getJSONObject("set"));
        } else if (step.has("dismiss")) {
            only(step, "dismiss");
            message(step.getString("dismiss")).dismiss();
        } else if (step.has("skip")) {
            only(step, "skip");
            message(step.getString("skip")).skip();
        } else if (step.has("open")) {
            only(step, "open", "opens");
            expect("opens", step.get("opens"), message(step.getString("open")).opened());
        } else if (step.has("forget")) {
            only(step, "forget");
            expect("forget", step.get("forget"), true);
            gate.forget();
        } else if (step.has("storage")) {
            only(step, "storage");
            store.step(step.get("storage"));
        } else if (step.has("stored")) {
            only(step, "stored");
            expect("stored", step.get("stored"), store.text == null ? null : new JSONObject(store.text));
        } else if (step.has("same")) {
            only(step, "same");
            expect("same", install(2).equals(install(1)), true);
        } else if (step.has("other")) {
            only(step, "other");
            expect("other", install(2).equals(install(1)), false);
        } else {
            throw new AssertionError("there is no such step");
        }
    }

    private void combined(JSONObject step) throws Exception {
        if (step.has("advance")) {
            now += step.getLong("advance");
        }
        if (step.has("answer")) {
            server.answer(step.getJSONObject("answer"));
        }
        if (step.has("start")) {
            finishWriting();
            JSONObject changes = step.getJSONObject("start");
            change(changes);
            if (changes.length() > 0) {
                server.app(null, app);
            }
            start();
        }
        if (step.has("check")) {
            check(step);
        }
        if (step.has("fields")) {
            JSONObject fields = new JSONObject(gate.fields());
            questions.add(new JSONObject().put("install", fields.get("App-Install")));
            expect("fields", step.get("fields"), fields);
        }
    }

    private void finishWriting() {
        store.release();
        gate.finishWriting();
    }

    /** Members of the app are others; null removes one. */
    private void change(JSONObject members) throws JSONException {
        for (Iterator<?> names = members.keys(); names.hasNext();) {
            String name = (String) names.next();
            app.put(name, members.isNull(name) ? null : members.get(name));
        }
    }

    /** The install of the last question, or of the one before it. */
    private String install(int fromTheEnd) throws JSONException {
        return questions.get(questions.size() - fromTheEnd).getString("install");
    }

    private VersionGate.Message message(String id) {
        for (VersionGate.Message message : given) {
            if (message.id.equals(id)) {
                return message;
            }
        }
        throw new AssertionError("no check has given the message " + id);
    }

    private void start() throws JSONException {
        only(app, "bundle", "version", "build", "platform", "os", "region", "language", "attributes", "maximumAge",
            "publicKeys");
        VersionGate.Builder builder = new VersionGate.Builder(server.address(), app.getString("bundle"), store)
            .version(text("version")).buildNumber(text("build")).platform(text("platform")).os(text("os"))
            .region(text("region")).language(text("language")).clock(() -> now).observer(this::observe);
        if (server.transport() != null) {
            builder.transport(this::ask);
        }
        if (app.has("maximumAge")) {
            builder.maximumAge(app.getInt("maximumAge"));
        }
        JSONArray keys = app.has("publicKeys") ? app.getJSONArray("publicKeys") : new JSONArray();
        for (int index = 0; index < keys.length(); index++) {
            builder.publicKey(keys.getString(index));
        }
        gate = builder.build();
        attributes = new JSONObject();
        set(new JSONObject().put("attributes", app.has("attributes") ? app.get("attributes") : attributes));
        given.clear();
    }

    private void preview(String answer, boolean isRefused) {
        finishWriting();
        try {
            gate = VersionGate.preview(answer);
            given.clear();
        } catch (IllegalArgumentException error) {
            if (isRefused) {
                return;
            }
            throw error;
        }
        if (isRefused) {
            throw new AssertionError("the preview is not refused");
        }
    }

    private void set(JSONObject set) throws JSONException {
        only(set, "language", "region", "attributes");
        if (set.has("language")) {
            gate.language(set.isNull("language") ? null : set.getString("language"));
        }
        if (set.has("region")) {
            gate.region(set.isNull("region") ? null : set.getString("region"));
        }
        if (!set.has("attributes")) {
            return;
        }
        for (Iterator<?> names = attributes.keys(); names.hasNext();) {
            gate.attribute((String) names.next(), (String) null);
        }
        attributes = set.getJSONObject("attributes");
        for (Iterator<?> names = attributes.keys(); names.hasNext();) {
            String name = (String) names.next();
            Object value = attributes.get(name);
            if (value instanceof Boolean) {
                gate.attribute(name, (Boolean) value);
            } else if (value instanceof Number) {
                gate.attribute(name, (Number) value);
            } else {
                gate.attribute(name, (String) value);
            }
        }
    }

    private void observe(VersionGate.Report report) {
        reports.add(report);
        wasLate |= TOO_LATE.equals(report.fault);
    }

    private String text(String name) throws JSONException {
        return app.has(name) ? app.getString(name) : null;
    }

    /** The transport of the server, which writes down what is asked. */
    private VersionGate.Answer ask(String address, byte[] body) throws Exception {
        questions.add(new JSONObject(new String(body, StandardCharsets.UTF_8)));
        // Of checks at the same time, the answer comes when each of them waits for it.
        await(together);
        return server.transport().ask(address, body);
    }

    /** Waits until each of the checks waits for an answer, or has one. */
    private static void await(List<Thread> checks) throws InterruptedException {
        for (Thread thread : checks) {
            while (thread.getState() != Thread.State.TIMED_WAITING && thread.getState() != Thread.State.TERMINATED) {
                Thread.sleep(1);
            }
        }
    }

    private void check(JSONObject step) throws Exception {
        JSONObject check = step.getJSONObject("check");
        only(check, "force", "manual", "together");
        boolean force = check.has("force") && check.getBoolean("force");
        String manual = check.optString("manual");
        int before = questions.size();
        reports.clear();
        List<FutureTask<List<VersionGate.Message>>> checks = new ArrayList<>();
        List<Thread> threads = new ArrayList<>();
        for (int index = 0; index < check.optInt("together", 1); index++) {
            boolean isManual = manual.equals("true") || manual.equals(index == 0 ? "first" : "second");
            Callable<List<VersionGate.Message>> asking = () -> isManual ? gate.checkManually() : gate.check(force);
            FutureTask<List<VersionGate.Message>> task = new FutureTask<>(asking);
            checks.add(task);
            threads.add(new Thread(task));
        }
        if (threads.size() == 1) {
            checks.get(0).run();
        } else {
            together = threads;
            for (Thread thread : threads) {
                thread.start();
                // Which of them is first matters if one is manual.
                await(manual.isEmpty() ? Collections.emptyList() : Collections.singletonList(thread));
            }
        }
        List<VersionGate.Message> given = checks.get(0).get();
        this.given.addAll(0, given);
        for (FutureTask<List<VersionGate.Message>> other : checks) {
            expect("checks at the same time", manual.equals("second") ? given.equals(other.get()) : given == other.get(), true);
        }
        together = Collections.emptyList();

        int asks = !step.getBoolean("asks") ? 0 : manual.equals("second") ? 2 : 1;
        int asked = questions.size() - before;
        if (server.transport() == null) {
            for (VersionGate.Report report : reports) {
                asked += report.outcome == VersionGate.Report.Outcome.ASKED ? 1 : 0;
            }
        }
        JSONArray requests = server.requests(asked > 0);
        expect("asks", asks, asked);
        if (requests != null) {
            expect("requests", asks, requests.length());
            for (int index = 0; index < requests.length() && server.transport() == null; index++) {
                questions.add(requests.getJSONObject(index));
            }
        }
        if (step.has("sends")) {
            expect("sends", step.get("sends"), questions.get(questions.size() - 1));
            if (requests != null) {
                expect("the request", step.get("sends"), requests.get(requests.length() - 1));
            }
        }
        JSONArray ids = new JSONArray();
        JSONArray links = new JSONArray();
        JSONArray left = new JSONArray();
        JSONArray gives = new JSONArray();
        for (VersionGate.Message message : given) {
            ids.put(message.id);
            links.put(message.link == null ? JSONObject.NULL : message.link);
            left.put(message.left == null ? JSONObject.NULL : message.left);
            gives.put(new JSONObject().put("id", message.id).put("title", message.title).put("text", message.text)
                .put("link", message.link).put("target", message.target)
                .put("lockout", message.lockout ? true : null).put("skip", message.skippable ? true : null));
        }
        expect("shows", step.get("shows"), ids);
        if (step.has("links")) {
            expect("links", step.get("links"), links);
        }
        if (step.has("left")) {
            expect("left", step.get("left"), left);
        }
        if (step.has("gives")) {
            expect("gives", step.get("gives"), gives);
        }
        if (step.has("reports")) {
            expect("the number of reports", 1, reports.size());
            VersionGate.Report report = reports.get(0);
            expect("reports", step.get("reports"), new JSONObject().put("outcome", report.outcome.name().toLowerCase())
                .put("status", report.status == 0 ? null : report.status)
                .put("fault", report.fault == null ? null : !report.fault.isEmpty()).put("messages", report.messages));
        }
    }

    static void only(JSONObject object, String... names) {
        for (Iterator<?> keys = object.keys(); keys.hasNext();) {
            Object key = keys.next();
            if (!Arrays.asList(names).contains(key)) {
                throw new AssertionError("there is no member " + key + " here");
            }
        }
    }

    private static void expect(String what, Object expected, Object actual) throws JSONException {
        if (!equal(expected, actual)) {
            throw new AssertionError(what + ": expected " + expected + ", got " + actual);
        }
    }

    private static boolean equal(Object expected, Object actual) throws JSONException {
        if (expected instanceof JSONObject && actual instanceof JSONObject) {
            JSONObject one = (JSONObject) expected;
            JSONObject other = (JSONObject) actual;
            for (Iterator<?> names = one.keys(); names.hasNext();) {
                String name = (String) names.next();
                boolean isAnyInstall = (name.equals("install") || name.equals("App-Install")) && one.get(name).equals("*");
                if (isAnyInstall ? !other.optString(name).matches("[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}")
                    : !other.has(name) || !equal(one.get(name), other.get(name))) {
                    return false;
                }
            }
            return one.length() == other.length();
        }
        if (expected instanceof JSONArray && actual instanceof JSONArray) {
            JSONArray one = (JSONArray) expected;
            JSONArray other = (JSONArray) actual;
            for (int index = 0; index < one.length(); index++) {
                if (index >= other.length() || !equal(one.get(index), other.get(index))) {
                    return false;
                }
            }
            return one.length() == other.length();
        }
        if (expected instanceof Number && actual instanceof Number) {
            return ((Number) expected).doubleValue() == ((Number) actual).doubleValue();
        }
        return expected == JSONObject.NULL ? actual == null || actual == JSONObject.NULL : expected.equals(actual);
    }

    /** Storage in memory that fails when a scenario says so. */
    private static final class Store implements VersionGate.Storage {
        String text;
        private boolean isUnreadable;
        private boolean isStuck;
        private volatile CountDownLatch stuck = new CountDownLatch(0);
        private boolean isFull;

        @Override
        public String read() throws InterruptedException {
            if (isStuck) {
                isStuck = false;
                stuck = new CountDownLatch(1);
                stuck.await();
            }
            if (isUnreadable) {
                throw new IllegalStateException("the file is damaged");
            }
            return text;
        }

        @Override
        public void write(String text) {
            if (isFull && text != null) {
                throw new IllegalStateException("no space left");
            }
            isUnreadable = false;
            this.text = text;
        }

        void release() {
            stuck.countDown();
        }

        void step(Object storage) throws JSONException {
            if (storage.equals("empty")) {
                text = null;
            } else if (storage.equals("unreadable")) {
                isUnreadable = true;
            } else if (storage.equals("stuck")) {
                isStuck = true;
            } else if (storage.equals("full")) {
                isFull = true;
            } else if (storage.equals("writable")) {
                isFull = false;
            } else {
                JSONObject object = (JSONObject) storage;
                only(object, "text", "json");
                text = object.has("json") ? object.getJSONObject("json").toString() : object.getString("text");
            }
        }
    }

    /** A server inside the program, without a network. */
    static final class FakeServer implements Server {
        private JSONObject answer;

        FakeServer() throws JSONException {
            answer = new JSONObject().put("fails", "unreachable");
        }

        @Override
        public String address() {
            return "https://gate.example.com";
        }

        @Override
        public VersionGate.Transport transport() {
            return this::ask;
        }

        @Override
        public void app(String scenarioThatBegins, JSONObject app) {}

        @Override
        public void answer(JSONObject answer) {
            this.answer = answer;
        }

        @Override
        public JSONArray requests(boolean asked) {
            return null;
        }

        private VersionGate.Answer ask(String address, byte[] body) throws Exception {
            if (!address.equals("https://gate.example.com/v1/check")) {
                throw new AssertionError("asked " + address);
            }
            if (answer.has("messages")) {
                only(answer, "messages", "date");
                return new VersionGate.Answer(200, answer.toString().getBytes(StandardCharsets.UTF_8), date());
            }
            if (answer.has("status")) {
                only(answer, "status", "body", "repeat", "bytes", "encoding", "date", "headers");
                return new VersionGate.Answer(answer.getInt("status"), body(), date(), headers());
            }
            only(answer, "fails");
            switch (answer.getString("fails")) {
            case "stall":
                Thread.sleep(Long.MAX_VALUE);
                return null;
            case "redirect":
                return new VersionGate.Answer(302, new byte[0]);
            default:
                throw new java.io.IOException("the connection was lost");
            }
        }

        private Map<String, String> headers() throws JSONException {
            Map<String, String> headers = new HashMap<>();
            JSONObject given = answer.has("headers") ? answer.getJSONObject("headers") : new JSONObject();
            for (Iterator<?> names = given.keys(); names.hasNext();) {
                String name = (String) names.next();
                Object value = given.get(name);
                headers.put(name, value instanceof JSONArray
                    ? ((JSONArray) value).getString(0) + ", " + ((JSONArray) value).getString(1) : (String) value);
            }
            return headers;
        }

        private String date() {
            return answer.has("date") ? answer.optString("date") : null;
        }

        private byte[] body() throws JSONException {
            StringBuilder text = new StringBuilder();
            for (int count = answer.optInt("repeat", 1); count > 0; count--) {
                text.append(answer.getString("body"));
            }
            boolean isLatin1 = answer.optString("encoding").equals("latin1");
            byte[] body = text.toString().getBytes(isLatin1 ? StandardCharsets.ISO_8859_1 : StandardCharsets.UTF_8);
            byte[] whole = Arrays.copyOf(body, answer.optInt("bytes", body.length));
            Arrays.fill(whole, body.length, whole.length, (byte) ' ');
            return whole;
        }
    }
}

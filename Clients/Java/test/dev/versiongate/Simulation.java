package dev.versiongate;

import static dev.versiongate.Tests.expect;
import static dev.versiongate.Tests.test;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.Set;
import java.util.TreeMap;
import org.json.JSONArray;
import org.json.JSONException;
import org.json.JSONObject;

/**
 * Installations over 90 days, with random policies, networks, clocks, storage and people. What each check gives is held to
 * a history of what happened, which is looked through anew each time and shares no code with the library.
 *
 * <p>VERSIONGATE_STARTS is the number of starts of apps, VERSIONGATE_SEED the seed of a run to repeat.
 */
final class Simulation {
    private static final long DAY = 86400;
    private static final long DAYS = 90;

    private static final Map<String, Long> COUNTS = new TreeMap<>();

    private Simulation() {}

    static void run() {
        String starts = System.getenv("VERSIONGATE_STARTS");
        String seed = System.getenv("VERSIONGATE_SEED");
        long count = starts == null ? 20_000 : Long.parseLong(starts);
        long number = seed == null ? System.nanoTime() : Long.parseLong(seed);
        System.out.println("Simulation of " + count + " starts, VERSIONGATE_SEED=" + number);
        test("simulation with the seed " + number, () -> {
            long installations = 0;
            for (; COUNTS.getOrDefault("starts", 0L) < count; installations++) {
                try {
                    new Installation(new Random(number + 7919 * installations)).live();
                } catch (Late error) {
                    count("late");
                }
            }
            System.out.println(COUNTS);
            for (String name : Arrays.asList("starts", "questions", "no question", "failed checks", "clocks that jumped",
                "forgotten", "starts with full storage", "starts with lost storage", "shown", "shown again", "hidden by skip",
                "hidden by shows", "hidden by remind", "lockouts", "lockouts kept", "lockouts of another version", "lockouts too old")) {
                expect(count < 1000 || COUNTS.containsKey(name), "it never came to: " + name);
            }
            long late = COUNTS.getOrDefault("late", 0L);
            expect(late <= 1 + installations / 100, late + " of " + installations + " installations were left out");
        });
    }

    /**
     * A call took so long that the library may have given up the storage or the transport, which answer at once: the machine
     * is busy with something else. What this installation should show is not known any more.
     */
    private static final class Late extends RuntimeException {
        private static final long serialVersionUID = 1;
    }

    private static void timed(Runnable call) {
        long start = System.nanoTime();
        call.run();
        if (System.nanoTime() - start > 500_000_000) {
            throw new Late();
        }
    }

    private static void count(String name) {
        COUNTS.merge(name, 1L, Long::sum);
    }

    /** A rule of the policy, as it is from a time on. */
    private static final class Rule {
        long from;
        String id;
        String target;
        boolean isSent;
        boolean isLockout;
        long remind;
        long shows;
        boolean skip;

        boolean hasHints() {
            return !isLockout && (remind > 0 || shows > 0 || skip);
        }

        List<String> key() {
            return Arrays.asList(id, target);
        }

        JSONObject message() throws JSONException {
            JSONObject message = new JSONObject().put("id", id).put("title", "T").put("text", "T").put("target", target);
            if (isLockout) {
                message.put("lockout", true);
            }
            // Hints of a lockout must change nothing.
            if (remind > 0) {
                message.put("remind", remind);
            }
            if (shows > 0) {
                message.put("shows", shows);
            }
            if (skip) {
                message.put("skip", true);
            }
            return message;
        }
    }

    /** What happened to a message with hints, in this order. */
    private static final class Event {
        final long time;
        final String what;

        Event(long time, String what) {
            this.time = time;
            this.what = what;
        }
    }

    /** What the library should know. */
    private static final class History {
        String install;
        final Map<List<String>, List<Event>> events = new HashMap<>();
        Rule lockout;
        long lockoutAt;
        String lockoutApp;

        History copy() {
            History copy = new History();
            copy.install = install;
            for (Map.Entry<List<String>, List<Event>> entry : events.entrySet()) {
                copy.events.put(entry.getKey(), new ArrayList<>(entry.getValue()));
            }
            copy.lockout = lockout;
            copy.lockoutAt = lockoutAt;
            copy.lockoutApp = lockoutApp;
            return copy;
        }

        void add(Rule rule, long now, String what) {
            if (rule.hasHints()) {
                events.computeIfAbsent(rule.key(), key -> new ArrayList<>()).add(new Event(now, what));
            }
        }

        /** Why a message is not shown, or null. */
        String hidden(Rule rule, long now) {
            List<Event> past = rule.isLockout ? null : events.get(rule.key());
            if (past == null) {
                return null;
            }
            long shown = 0;
            for (Event event : past) {
                if (event.what.equals("skipped")) {
                    return "hidden by skip";
                }
                shown += event.what.equals("shown") ? 1 : 0;
            }
            if (rule.shows > 0 && shown >= rule.shows) {
                return "hidden by shows";
            }
            long last = past.get(past.size() - 1).time;
            return rule.remind > 0 && last <= now && now < last + rule.remind ? "hidden by remind" : null;
        }
    }

    /** One installation with its policy, network, clock and person. */
    private static final class Installation implements VersionGate.Storage, VersionGate.Transport {
        private final Random random;
        private final List<List<Rule>> policy = new ArrayList<>();
        private final Set<String> installs = new HashSet<>();

        private long now = 1790000000;
        private int version = 1;
        private int build = 1;
        private String stored;
        private boolean isFull;
        /** How the server answers the next question; what was asked. */
        private String answer;
        private final List<String> asked = new ArrayList<>();

        private History history = new History();
        private Long lastAsked;

        Installation(Random random) {
            this.random = random;
            for (int count = 1 + random.nextInt(6); count > 0; count--) {
                policy.add(rule("rule-" + count));
            }
        }

        private boolean chance(double share) {
            return random.nextDouble() < share;
        }

        /** A rule that is edited now and then. */
        private List<Rule> rule(String id) {
            List<Rule> edits = new ArrayList<>();
            boolean isOftenLockout = chance(0.2);
            for (long from = now; from < now + DAYS * DAY; from += (long) (random.nextDouble() * 40 * DAY)) {
                Rule rule = new Rule();
                rule.from = from;
                rule.id = id;
                rule.target = chance(0.4) ? null : "1." + random.nextInt(3);
                rule.isSent = chance(0.8);
                rule.isLockout = chance(isOftenLockout ? 0.5 : 0.05);
                rule.remind = chance(0.5) ? 0 : chance(0.5) ? DAY * (1 + random.nextInt(14)) : 1 + random.nextInt(7200);
                rule.shows = chance(0.5) ? 0 : 1 + random.nextInt(5);
                rule.skip = chance(0.4);
                edits.add(rule);
            }
            return edits;
        }

        private List<Rule> sent(long time) {
            List<Rule> sent = new ArrayList<>();
            for (List<Rule> edits : policy) {
                Rule current = null;
                for (Rule rule : edits) {
                    current = rule.from <= time ? rule : current;
                }
                if (current != null && current.isSent) {
                    sent.add(current);
                }
            }
            return sent;
        }

        @Override
        public String read() {
            return stored;
        }

        @Override
        public void write(String text) throws IOException {
            if (isFull && text != null) {
                throw new IOException("no space left");
            }
            stored = text;
        }

        @Override
        public VersionGate.Answer ask(String address, byte[] body) throws Exception {
            asked.add(new JSONObject(new String(body, StandardCharsets.UTF_8)).getString("install"));
            if (answer == null) {
                throw new IOException("no network");
            }
            boolean isError = answer.startsWith("500");
            String text = answer.substring(isError ? 3 : 0);
            return new VersionGate.Answer(isError ? 500 : 200, text.getBytes(StandardCharsets.UTF_8));
        }

        void live() throws Exception {
            double network = random.nextDouble();
            double meanPause = chance(0.3) ? 0.05 : 5 * random.nextDouble();
            boolean jumps = chance(0.1);
            long real = now;
            long end = now + DAYS * DAY;
            while (real < end) {
                long pause = chance(0.1) ? exactPause() : (long) (-Math.log(1 - random.nextDouble()) * meanPause * DAY);
                real += pause;
                now += pause;
                jump(jumps);
                if (chance(0.02)) {
                    version++;
                }
                if (chance(0.02)) {
                    build++;
                }
                if (chance(0.005)) {
                    stored = null;
                    history = new History();
                    count("starts with lost storage");
                }
                start(network, jumps);
                real++;
            }
        }

        /** A pause after which a bound has just been reached, or a second before or after. */
        private long exactPause() {
            Rule rule = policy.get(random.nextInt(policy.size())).get(0);
            return Math.max(0, (chance(0.2) ? 7 * DAY : rule.remind) + random.nextInt(3) - 1);
        }

        private void jump(boolean jumps) {
            if (jumps && chance(0.05)) {
                now += (long) (random.nextGaussian() * (chance(0.5) ? DAY / 10 : 30 * DAY));
                count("clocks that jumped");
            }
        }

        private String app() {
            return "1." + version + " (" + build + ")";
        }

        private void start(double network, boolean jumps) throws Exception {
            count("starts");
            isFull = chance(0.02);
            History kept = isFull ? history.copy() : null;
            if (isFull) {
                count("starts with full storage");
            }
            lastAsked = null;
            VersionGate gate = new VersionGate.Builder("https://gate.example.com", "com.example.doto", this)
                .version("1." + version).buildNumber("" + build).transport(this).clock(() -> now).build();
            List<VersionGate.Message> given = new ArrayList<>();
            List<Rule> givenRules = new ArrayList<>();
            for (int checks = chance(0.7) ? 1 : 2 + random.nextInt(3); checks > 0; checks--) {
                check(gate, network, given, givenRules);
                for (int index = 0; index < given.size(); index++) {
                    person(given.get(index), givenRules.get(index));
                }
                if (chance(0.002)) {
                    timed(() -> {
                        gate.forget();
                        gate.finishWriting();
                    });
                    history = new History();
                    kept = isFull ? new History() : null;
                    lastAsked = null;
                    count("forgotten");
                    expect(stored == null, "something is kept after forgetting");
                }
                now += chance(0.3) ? 0 : chance(0.1) ? 899 + random.nextInt(3) : random.nextInt(2000);
                jump(jumps);
            }
            timed(gate::finishWriting);
            if (isFull) {
                history = kept;
            }
        }

        private void check(VersionGate gate, double network, List<VersionGate.Message> given, List<Rule> givenRules)
            throws Exception {
            List<Rule> policy = sent(now);
            boolean fails = !chance(network);
            JSONArray messages = new JSONArray();
            for (Rule rule : policy) {
                messages.put(rule.message());
            }
            String body = new JSONObject().put("messages", messages).toString();
            String[] faults = {
                null, "500" + body, "<html>Welcome</html>", "{}", body.substring(0, body.length() - 1), "[" + body + "]", body + "<",
            };
            answer = fails ? faults[random.nextInt(faults.length)] : body;
            boolean force = chance(0.2);
            boolean asks = force || lastAsked == null || lastAsked > now || now >= lastAsked + 900;
            asked.clear();

            given.clear();
            timed(() -> given.addAll(gate.check(force)));

            expect(asked.size() == (asks ? 1 : 0), asked.size() + " questions instead of " + (asks ? 1 : 0));
            count(asks ? "questions" : "no question");
            if (asks) {
                lastAsked = now;
                String install = asked.get(0);
                expect(history.install == null ? installs.add(install) : install.equals(history.install),
                    "the install is not the right one");
                history.install = install;
            }
            givenRules.clear();
            if (asks && !fails) {
                succeeded(policy, given, givenRules);
            } else {
                failed(given, givenRules);
            }
            expect(given.size() == givenRules.size(),
                "too many messages were shown: " + given.size() + " instead of " + givenRules.size());
        }

        private void succeeded(List<Rule> policy, List<VersionGate.Message> given, List<Rule> givenRules) {
            history.lockout = null;
            for (Rule rule : policy) {
                String hidden = history.hidden(rule, now);
                VersionGate.Message message = given.size() > givenRules.size() ? given.get(givenRules.size()) : null;
                boolean isShown = message != null && message.id.equals(rule.id);
                expect(isShown != (hidden != null), rule.id + (isShown ? " was shown, but is " + hidden : " was not shown"));
                if (hidden != null) {
                    count(hidden);
                    continue;
                }
                count(history.events.containsKey(rule.key()) ? "shown again" : "shown");
                expect(message.lockout == rule.isLockout, rule.id + " is a lockout and should be none, or the other way round");
                givenRules.add(rule);
                history.add(rule, now, "shown");
                if (rule.isLockout) {
                    count("lockouts");
                    history.lockout = rule;
                    history.lockoutAt = now;
                    history.lockoutApp = app();
                    break;
                }
            }
        }

        private void failed(List<VersionGate.Message> given, List<Rule> givenRules) {
            count("failed checks");
            if (history.lockout == null) {
                return;
            }
            boolean isSame = history.lockoutApp.equals(app());
            boolean isNew = history.lockoutAt <= now && now <= history.lockoutAt + 7 * DAY;
            if (isSame && isNew) {
                givenRules.add(history.lockout);
                expect(given.size() == 1 && given.get(0).lockout && given.get(0).id.equals(history.lockout.id),
                    "the lockout was not kept");
            }
            count(!isSame ? "lockouts of another version" : isNew ? "lockouts kept" : "lockouts too old");
        }

        private void person(VersionGate.Message message, Rule rule) {
            now += chance(0.5) ? 0 : random.nextInt(chance(0.1) ? 40_000 : 60);
            String what;
            if (chance(0.3)) {
                return;
            } else if (chance(0.2)) {
                timed(message::skip);
                what = rule.skip ? "skipped" : "closed";
            } else if (chance(0.3)) {
                timed(() -> expect(message.opened() == null, "there is a link"));
                what = "closed";
            } else {
                timed(message::dismiss);
                what = "closed";
            }
            if (!history.events.containsKey(rule.key())) {
                history.add(rule, now, "shown");
            }
            history.add(rule, now, what);
        }
    }
}

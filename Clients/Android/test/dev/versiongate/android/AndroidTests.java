package dev.versiongate.android;

import android.app.Activity;
import android.app.AlertDialog;
import android.app.Application;
import android.content.Intent;
import android.content.SharedPreferences;
import com.google.android.play.core.common.PlayCoreDialogWrapperActivity;
import dev.versiongate.VersionGate;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.function.Consumer;

/** What the screens do on a {@link Device}. Ends with status 1 if a test fails. */
final class AndroidTests {
    private static final String OWN_PAGE = "https://play.google.com/store/apps/details?id=com.example.doto";
    private static final String LOCKOUT = "{\"id\":\"blocked\",\"title\":\"Blocked\",\"text\":\"Update.\",\"link\":\"" + OWN_PAGE
        + "\",\"lockout\":true}";
    private static final String NEWS = "{\"id\":\"news\",\"title\":\"News\",\"text\":\"Lists.\",\"skip\":true}";
    private static final String TIP = "{\"id\":\"tip\",\"title\":\"Tip\",\"text\":\"Swipe.\",\"link\":\"https://example.com\"}";
    private static final String SEEN = "Blocked;Update.;";
    private static final int QUARTER = 15 * 60;
    private static final int[] LEVELS = {21, 30, 33, 36};

    private static int passed;
    private static int failed;

    private AndroidTests() {}

    public static void main(String[] arguments) {
        test("nobody leaves a lockout", AndroidTests::nobodyLeaves);
        test("a lockout ends when a check gives none", AndroidTests::lockoutEnds);
        test("with a maximum age of 0 nobody leaves a lockout that the server sends", AndroidTests::nobodyLeavesUnkept);
        test("a lockout is told by try again, after 15 minutes, and in the foreground", AndroidTests::asksAgain);
        test("a lockout that ends is asked for when it has", AndroidTests::asksAtTheEnd);
        test("after the end of the process the screen is empty until the check", AndroidTests::restored);
        test("a lockout without a link has no button to update", AndroidTests::withoutLink);
        test("messages are dialogs, one after the other", AndroidTests::oneAfterTheOther);
        test("what the person does with a message is recorded", AndroidTests::recorded);
        test("a rotation neither loses nor counts a message", AndroidTests::rotation);
        test("a message that waits comes once", AndroidTests::once);
        test("messages before a lockout are shown above it", AndroidTests::beforeLockout);
        test("links open outside, or in the flow of the store", AndroidTests::links);
        test("the screen of Play stays above a lockout, and the lockout below it", AndroidTests::playAbove);
        test("screens are installed once for an application", AndroidTests::installedOnce);
        test("what the app says of itself", AndroidTests::description);
        System.out.println(passed + " passed, " + failed + " failed");
        System.exit(failed == 0 && passed > 0 ? 0 : 1);
    }

    private static void test(String name, Runnable test) {
        try {
            test.run();
            passed++;
        } catch (RuntimeException | AssertionError error) {
            failed++;
            System.out.println("FAILED: " + name + ": " + error);
            error.printStackTrace(System.out);
        }
    }

    private static void expect(Object actual, Object expected) {
        if (!String.valueOf(expected).equals(String.valueOf(actual))) {
            throw new AssertionError("expected " + expected + ", got " + actual);
        }
    }

    private static String answer(String... messages) {
        return "{\"messages\":[" + String.join(",", messages) + "]}";
    }

    private static Device device(int api, String... messages) {
        return started(new Device(api), messages);
    }

    private static Device started(Device device, String... messages) {
        device.answer = answer(messages);
        device.icon();
        return device;
    }

    /** What a person, an app and a system can do. Whatever it is, who then sees the app sees the lockout. */
    private static Map<String, Consumer<Device>> ways() {
        Map<String, Consumer<Device>> ways = new LinkedHashMap<>();
        ways.put("back", Device::back);
        ways.put("back three times", device -> times(3, device::back));
        ways.put("back where the system asks nobody", Device::backUnasked);
        ways.put("the same, three times", device -> times(3, device::backUnasked));
        ways.put("home and the icon", device -> {
            device.home();
            device.icon();
        });
        ways.put("swiped away, and the icon", device -> {
            device.swipeAway();
            device.icon();
        });
        ways.put("swiped away offline, and the icon", device -> {
            device.swipeAway();
            device.answer = null;
            device.icon();
        });
        ways.put("rotation", Device::rotate);
        ways.put("rotation and back", device -> {
            device.rotate();
            device.back();
        });
        ways.put("back and rotation, ten times", device -> times(10, () -> {
            device.backUnasked();
            device.rotate();
        }));
        ways.put("a link", Device::link);
        ways.put("a link and back", device -> {
            device.link();
            device.back();
        });
        ways.put("three links, and back where the system asks nobody", device -> {
            times(3, device::link);
            times(3, device::backUnasked);
        });
        ways.put("a notification while the app is in the background", device -> {
            device.home();
            device.link();
        });
        ways.put("a notification after the app was swiped away", device -> {
            device.swipeAway();
            device.link();
        });
        ways.put("the end of the process", device -> {
            device.kill();
            device.icon();
        });
        ways.put("the end of the process, offline", device -> {
            device.kill();
            device.answer = null;
            device.icon();
        });
        ways.put("the end of the process, offline, and a link", device -> {
            device.kill();
            device.answer = null;
            device.link();
        });
        ways.put("the end of the process, and back at once", device -> {
            device.kill();
            device.icon();
            device.backUnasked();
        });
        ways.put("try again, offline", device -> {
            device.answer = null;
            device.tap(R.string.versiongate_try_again);
        });
        ways.put("try again, and the server breaks", device -> {
            device.answer = "<html>";
            device.tap(R.string.versiongate_try_again);
        });
        ways.put("try again, and nothing has changed", device -> device.tap(R.string.versiongate_try_again));
        ways.put("the store, and back without an update", device -> {
            device.tap(R.string.versiongate_update);
            device.icon();
        });
        ways.put("a device without the store", device -> {
            device.opens = false;
            device.tap(R.string.versiongate_update);
        });
        ways.put("an update that is cancelled", device -> {
            device.updater = (activity, immediate, otherwise) -> {};
            device.kill();
            device.icon();
            device.tap(R.string.versiongate_update);
        });
        ways.put("an update that fails, and the store, and back", device -> {
            device.updater = (activity, immediate, otherwise) -> otherwise.run();
            device.kill();
            device.icon();
            device.tap(R.string.versiongate_update);
            device.icon();
        });
        ways.put("15 minutes without a network", device -> {
            device.answer = null;
            device.home();
            device.pass(QUARTER);
            device.icon();
        });
        ways.put("an hour on the screen without a network", device -> {
            device.answer = null;
            times(60, () -> device.pass(60));
        });
        ways.put("six days offline, and a restart", device -> {
            device.kill();
            device.answer = null;
            device.pass(6 * 86_400);
            device.icon();
        });
        ways.put("a system that destroys what is below", device -> {
            device.destroyBelow();
            device.backUnasked();
        });
        ways.put("an app that opens its main screen from outside", device -> {
            device.link();
            device.destroyBelow();
            device.rotate();
            device.backUnasked();
        });
        return ways;
    }

    private static void times(int count, Runnable action) {
        for (int time = 0; time < count; time++) {
            action.run();
        }
    }

    private static void nobodyLeaves() {
        Map<String, Consumer<Device>> ways = ways();
        for (int api : LEVELS) {
            for (Map.Entry<String, Consumer<Device>> way : ways.entrySet()) {
                Device device = device(api, LOCKOUT);
                expect(device.lockout(), SEEN);
                way.getValue().accept(device);
                if (device.top() == null) {
                    // The person is outside the app, and comes back.
                    device.icon();
                }
                expect(way.getKey() + " on " + api + ": " + device.lockout(), way.getKey() + " on " + api + ": " + SEEN);
            }
        }
        System.out.println(ways.size() + " ways to leave a lockout, none of which does, on each of " + LEVELS.length + " systems");
    }

    private static void nobodyLeavesUnkept() {
        int tried = 0;
        for (Map.Entry<String, Consumer<Device>> way : ways().entrySet()) {
            Device device = started(new Device(21, 0), LOCKOUT);
            way.getValue().accept(device);
            if (device.answer == null || !device.answer.equals(answer(LOCKOUT))) {
                // Without an answer nothing is kept, so nothing locks.
                continue;
            }
            if (device.top() == null) {
                device.icon();
            }
            expect(way.getKey() + ": " + device.lockout(), way.getKey() + ": " + SEEN);
            tried++;
        }
        expect(tried > 20, true);

        Device device = started(new Device(21, 0), LOCKOUT);
        times(120, () -> {
            device.pass(60);
            expect(device.lockout(), SEEN);
        });
        device.screens.check(false);
        device.settle();
        expect(device.lockout(), SEEN);
        device.answer = answer();
        device.pass(QUARTER);
        expect(device.lockout(), null);
    }

    private static void lockoutEnds() {
        Device device = device(21, LOCKOUT);
        device.link();
        device.answer = answer();
        device.tap(R.string.versiongate_try_again);
        expect(device.lockout(), null);
        expect(device.top().getClass(), Device.LinkActivity.class);
        device.back();
        expect(device.top().getClass(), Device.MainActivity.class);
        device.rotate();
        expect(device.lockout(), null);
    }

    private static void asksAgain() {
        Device device = device(21, LOCKOUT);
        expect(device.questions, 1);
        device.pass(60);
        expect(device.questions, 1);
        device.rotate();
        expect(device.lockout(), SEEN);
        expect(device.questions, 2);
        device.tap(R.string.versiongate_try_again);
        expect(device.questions, 3);
        device.answer = answer(LOCKOUT.replace("Update.", "Wait."));
        device.pass(QUARTER);
        expect(device.questions, 4);
        expect(device.lockout(), "Blocked;Wait.;");
        device.home();
        device.pass(QUARTER);
        expect(device.questions, 4);
        device.answer = answer();
        device.icon();
        expect(device.questions, 5);
        expect(device.lockout(), null);
    }

    private static void asksAtTheEnd() {
        String ending = LOCKOUT.replace("}", ",\"until\":" + (1_790_000_000 + 600) + "}");
        for (int maximumAge : new int[] {0, 7}) {
            Device device = started(new Device(21, maximumAge), ending);
            device.pass(599);
            expect(device.questions, 1);
            device.answer = answer();
            device.pass(1);
            expect(device.questions, 2);
            expect(device.lockout(), null);
            device.pass(QUARTER);
            expect(device.questions, 2);

            // What has ended and is sent all the same is not asked for at once each time.
            Device other = started(new Device(21, maximumAge), ending);
            other.pass(600);
            expect(other.questions, 2);
            expect(other.lockout(), SEEN);
            other.pass(60);
            expect(other.questions, 6);

            // No number in an answer is too large.
            Device late = started(new Device(21, maximumAge), ending.replace("1790000600", "9007199254740991"));
            late.pass(QUARTER - 1);
            expect(late.questions, 1);
            late.pass(1);
            expect(late.questions, 2);
            expect(late.lockout(), SEEN);
            late.home();
            late.pass(2 * QUARTER);
            expect(late.questions, 2);
        }
    }

    private static void restored() {
        Device device = device(21, LOCKOUT);
        device.kill();
        device.seen.clear();
        device.icon();
        expect(device.seen, "[LockoutActivity]");
        device.kill();
        device.answer = answer();
        device.icon();
        expect(device.seen, "[LockoutActivity, LockoutActivity, MainActivity]");

        LockoutActivity early = new LockoutActivity();
        early.application = new Application();
        early.onCreate(null);
        expect(((android.view.ViewGroup) ((android.view.ViewGroup) early.view).views.get(0)).views, "[]");
        expect(early.isFinishing(), false);
    }

    private static void withoutLink() {
        Device device = device(21, "{\"id\":\"maintenance\",\"title\":\"Until 18:00\",\"text\":\"Back soon.\",\"lockout\":true}");
        expect(device.lockout(), "Until 18:00;Back soon.;");
        device.tap(R.string.versiongate_try_again);
        try {
            device.tap(R.string.versiongate_update);
        } catch (AssertionError error) {
            expect(error.getMessage(), "there is no such button");
            return;
        }
        throw new AssertionError("there is a button");
    }

    private static void oneAfterTheOther() {
        Device device = device(21, NEWS, TIP);
        expect(device.dialogs(), "News;");
        device.press(R.string.versiongate_close);
        expect(device.dialogs(), "Tip;");
        device.back();
        expect(device.dialogs(), "");
        expect(device.top().getClass(), Device.MainActivity.class);
    }

    private static void recorded() {
        String reminded = NEWS.replace("\"skip\"", "\"remind\":86400,\"skip\"");
        for (String way : Arrays.asList("close", "back", "skip")) {
            Device device = device(21, reminded);
            device.now += 3600;
            if (way.equals("back")) {
                device.back();
            } else {
                device.press(way.equals("skip") ? R.string.versiongate_skip : R.string.versiongate_close);
            }
            expect(device.dialogs(), "");
            String kept = SharedPreferences.FILE.texts.get(VersionGate.NAME);
            expect(kept.contains("\"last\":" + device.now), true);
            expect(kept.contains("\"skipped\":true"), way.equals("skip"));
        }
    }

    private static void rotation() {
        Device device = device(21, NEWS.replace("\"skip\"", "\"remind\":86400,\"skip\""), TIP);
        long given = device.now;
        device.now += 60;
        times(3, device::rotate);
        expect(device.dialogs(), "News;");
        expect(SharedPreferences.FILE.texts.get(VersionGate.NAME).contains("\"last\":" + given), true);
        device.press(R.string.versiongate_close);
        device.rotate();
        expect(device.dialogs(), "Tip;");
    }

    private static void once() {
        Device device = device(21, NEWS, TIP);
        times(4, () -> {
            device.home();
            device.pass(QUARTER);
            device.icon();
        });
        expect(device.questions, 5);
        expect(device.dialogs(), "News;");
        device.press(R.string.versiongate_close);
        device.press(R.string.versiongate_close);
        expect(device.dialogs(), "");
    }

    private static void beforeLockout() {
        Device device = device(21, NEWS, LOCKOUT);
        expect(device.dialogs(), "News;");
        expect(device.lockout(), SEEN);
        device.back();
        expect(device.dialogs(), "");
        expect(device.lockout(), SEEN);
    }

    private static void links() {
        Device device = device(21, TIP);
        device.press(R.string.versiongate_open);
        expect(device.opened, "[https://example.com]");

        List<Object> updates = new ArrayList<>();
        for (String link : Arrays.asList(OWN_PAGE, OWN_PAGE + "&hl=de", "market://details?id=com.example.doto",
            "http://play.google.com/store/apps/details?hl=de&id=com.example.doto#x",
            "https://play.google.com/store/apps/details?id=com.example.doto2", "https://example.com/?id=com.example.doto")) {
            Device other = new Device(21);
            other.updater = (activity, immediate, otherwise) -> updates.add(immediate);
            other.kill();
            other.answer = answer(TIP.replace("https://example.com", link), LOCKOUT.replace(OWN_PAGE, link));
            other.icon();
            AlertDialog dialog = AlertDialog.SHOWN.get(0);
            dialog.press(dialog.buttons.containsKey(R.string.versiongate_update)
                ? R.string.versiongate_update : R.string.versiongate_open);
            other.settle();
            other.icon();
            other.tap(R.string.versiongate_update);
            boolean isOwn = !link.contains("doto2") && !link.contains("example.com/");
            expect(updates, isOwn ? "[false, true]" : "[]");
            expect(other.opened, isOwn ? "[]" : "[" + link + ", " + link + "]");
            updates.clear();
        }
    }

    private static void playAbove() {
        for (int api : LEVELS) {
            Device device = new Device(api);
            device.updater = (activity, immediate, otherwise) ->
                activity.startActivity(new Intent(activity, PlayCoreDialogWrapperActivity.class));
            device.kill();
            device.answer = answer(NEWS, LOCKOUT);
            device.icon();
            device.press(R.string.versiongate_close);
            device.tap(R.string.versiongate_update);
            expect(device.top().getClass().getSimpleName(), "PlayCoreDialogWrapperActivity");
            device.home();
            device.pass(QUARTER);
            device.icon();
            expect(device.top().getClass().getSimpleName(), "PlayCoreDialogWrapperActivity");
            expect(device.dialogs(), "");
            device.backUnasked();
            expect(device.lockout(), SEEN);
        }
    }

    private static void installedOnce() {
        Device device = device(21);
        try {
            GateScreens.install(device.app, null);
        } catch (IllegalStateException error) {
            expect(error.getMessage().contains("call install once"), true);
            device.screens.check(true);
            device.settle();
            expect(device.questions, 2);
            GateScreens.install(new Application(), null);
            return;
        }
        throw new AssertionError("installed twice");
    }

    private static void description() {
        String[] sent = new String[1];
        Activity activity = new Device.MainActivity();
        activity.application = new Application();
        AppGate.builder(activity, "https://gate.example.com").transport((address, body) -> {
            sent[0] = new String(body, java.nio.charset.StandardCharsets.UTF_8).replaceAll("\"install\":\"[^\"]*\"", "\"install\":\"*\"");
            return new VersionGate.Answer(204, new byte[0]);
        }).observer(report -> {}).build().check();
        expect(sent[0], "{\"bundle\":\"com.example.doto\",\"version\":\"1.0\",\"build\":\"42\",\"platform\":\"android\","
            + "\"os\":\"14\",\"region\":\"US\",\"language\":\"en-US\",\"install\":\"*\"}");
    }
}

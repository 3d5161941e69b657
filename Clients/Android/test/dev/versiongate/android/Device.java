package dev.versiongate.android;

import android.app.Activity;
import android.app.AlertDialog;
import android.app.Application;
import android.content.ActivityNotFoundException;
import android.content.Intent;
import android.content.SharedPreferences;
import android.os.Build;
import android.os.Handler;
import android.view.View;
import android.view.ViewGroup;
import android.widget.TextView;
import dev.versiongate.VersionGate;
import java.io.IOException;
import java.lang.reflect.Field;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;

/** A phone with one app: its activities, its process, and the person who holds it. */
final class Device implements Application.ActivityManager {
    /** The app begins with it. */
    static final class MainActivity extends Activity {}

    /** A link or a notification opens it. */
    static final class LinkActivity extends Activity {}

    private enum State { NONE, CREATED, STARTED, RESUMED }

    private static final class Record {
        final Class<? extends Activity> type;
        Activity activity;
        State state = State.NONE;

        Record(Class<? extends Activity> type) {
            this.type = type;
        }
    }

    /** What the server answers; null: it cannot be reached. */
    volatile String answer = "{\"messages\":[]}";
    volatile int questions;
    volatile long now = 1_790_000_000;
    private final int maximumAge;
    boolean opens = true;
    Updater updater;
    final List<String> opened = new ArrayList<>();
    /** Which activities came to the top. */
    final List<String> seen = new ArrayList<>();
    GateScreens screens;
    Application app;

    /** The last is on top. */
    private final List<Record> task = new ArrayList<>();
    private final List<Record> finished = new ArrayList<>();
    private boolean isInForeground;

    Device(int api) {
        this(api, 7);
    }

    Device(int api, int maximumAge) {
        this.maximumAge = maximumAge;
        Build.VERSION.SDK_INT = api;
        SharedPreferences.FILE.texts.clear();
        beginProcess();
    }

    private void beginProcess() {
        Handler.POSTED.clear();
        Handler.DELAYED.clear();
        AlertDialog.SHOWN.clear();
        try {
            Field installed = GateScreens.class.getDeclaredField("installed");
            installed.setAccessible(true);
            installed.set(null, null);
        } catch (ReflectiveOperationException error) {
            throw new AssertionError(error);
        }
        app = new Application();
        app.system = this;
        VersionGate gate = AppGate.builder(app, "https://gate.example.com").clock(() -> now).observer(report -> {})
            .maximumAge(maximumAge)
            .transport((address, body) -> {
                questions++;
                String text = answer;
                if (text == null) {
                    throw new IOException("no network");
                }
                return new VersionGate.Answer(200, text.getBytes(StandardCharsets.UTF_8));
            }).build();
        screens = updater == null ? GateScreens.install(app, gate) : GateScreens.install(app, gate, updater);
    }

    // What the person does.

    void icon() {
        if (task.isEmpty()) {
            task.add(new Record(MainActivity.class));
        }
        isInForeground = true;
        settle();
    }

    void home() {
        isInForeground = false;
        settle();
    }

    void back() {
        if (!AlertDialog.SHOWN.isEmpty()) {
            AlertDialog.SHOWN.get(AlertDialog.SHOWN.size() - 1).cancel();
        } else if (top().back != null && Build.VERSION.SDK_INT >= 33) {
            top().back.onBackInvoked();
        } else {
            top().onBackPressed();
        }
        settle();
    }

    /** Back on a system that asks no activity. */
    void backUnasked() {
        top().finish();
        settle();
    }

    void rotate() {
        Record top = task.get(task.size() - 1);
        live(top, "pause", State.STARTED);
        live(top, "stop", State.CREATED);
        live(top, "destroy", State.NONE);
        top.activity = null;
        settle();
    }

    void swipeAway() {
        finished.addAll(task);
        task.clear();
        isInForeground = false;
        settle();
    }

    void link() {
        task.add(new Record(LinkActivity.class));
        isInForeground = true;
        settle();
    }

    void tap(int label) {
        View found = find(top().view, label);
        if (found == null) {
            throw new AssertionError("there is no such button");
        }
        found.listener.onClick(found);
        settle();
    }

    void press(int label) {
        AlertDialog.SHOWN.get(0).press(label);
        settle();
    }

    // What the system does.

    /** The system takes the memory of the app, which is in the background then. */
    void kill() {
        home();
        for (Record record : task) {
            record.activity = null;
            record.state = State.NONE;
        }
        beginProcess();
    }

    /** "Do not keep activities". */
    void destroyBelow() {
        for (Record record : task.subList(0, task.size() - 1)) {
            if (record.activity != null) {
                live(record, "destroy", State.NONE);
                record.activity = null;
            }
        }
        settle();
    }

    /** Time goes by, and what is to be run meanwhile is run when it is due. */
    void pass(int seconds) {
        long end = now + seconds;
        while (now < end) {
            long next = end - now;
            for (long milliseconds : Handler.DELAYED.values()) {
                next = Math.min(next, Math.max(1, milliseconds / 1000));
            }
            now += next;
            for (Map.Entry<Runnable, Long> work : new ArrayList<>(Handler.DELAYED.entrySet())) {
                if (work.getValue() <= next * 1000) {
                    Handler.DELAYED.remove(work.getKey());
                    work.getKey().run();
                } else {
                    Handler.DELAYED.put(work.getKey(), work.getValue() - next * 1000);
                }
            }
            settle();
        }
    }

    @Override
    public void start(Activity from, Intent intent) {
        if (intent.address != null) {
            if (!opens) {
                throw new ActivityNotFoundException();
            }
            opened.add(intent.address.text);
            isInForeground = false;
            return;
        }
        for (Record record : task) {
            if (record.type == intent.target) {
                task.remove(record);
                task.add(record);
                return;
            }
        }
        task.add(new Record(intent.target.asSubclass(Activity.class)));
    }

    @Override
    public void finish(Activity activity) {
        for (Record record : new ArrayList<>(task)) {
            if (record.activity == activity) {
                task.remove(record);
                finished.add(record);
            }
        }
    }

    // What can be seen.

    Activity top() {
        return isInForeground && !task.isEmpty() ? task.get(task.size() - 1).activity : null;
    }

    /** The texts of a lockout, or an empty one before a check has ended; null without one. */
    String lockout() {
        return top() instanceof LockoutActivity ? texts(top().view) : null;
    }

    String dialogs() {
        StringBuilder titles = new StringBuilder();
        for (AlertDialog dialog : AlertDialog.SHOWN) {
            titles.append(dialog.title).append(dialog.owner == top() ? "" : " elsewhere").append(';');
        }
        return titles.toString();
    }

    /** Runs what is to be done, until nothing is. */
    void settle() {
        boolean isBusy = true;
        while (isBusy) {
            isBusy = false;
            while (step()) {
                isBusy = true;
            }
            for (Thread thread : Thread.getAllStackTraces().keySet()) {
                if (thread.getName().equals(VersionGate.NAME)) {
                    isBusy = true;
                    join(thread);
                }
            }
            for (Runnable work = Handler.POSTED.poll(); work != null; work = Handler.POSTED.poll()) {
                isBusy = true;
                work.run();
            }
        }
    }

    private static void join(Thread thread) {
        try {
            thread.join();
        } catch (InterruptedException error) {
            throw new AssertionError(error);
        }
    }

    /** The next step in the lives of activities, in the order of Android: pause, create, start, resume, stop, destroy. */
    private boolean step() {
        Record top = isInForeground && !task.isEmpty() ? task.get(task.size() - 1) : null;
        List<Record> all = new ArrayList<>(task);
        all.addAll(finished);
        for (Record record : all) {
            if (record != top && record.state == State.RESUMED) {
                return live(record, "pause", State.STARTED);
            }
        }
        if (top != null && top.state != State.RESUMED) {
            if (top.activity == null) {
                top.activity = made(top.type);
                return live(top, "create", State.CREATED);
            }
            if (top.state == State.CREATED) {
                return live(top, "start", State.STARTED);
            }
            seen.add(top.type.getSimpleName());
            return live(top, "resume", State.RESUMED);
        }
        for (Record record : all) {
            if (record != top && record.state == State.STARTED) {
                return live(record, "stop", State.CREATED);
            }
        }
        for (Record record : finished) {
            if (record.state == State.CREATED) {
                return live(record, "destroy", State.NONE);
            }
        }
        return false;
    }

    private Activity made(Class<? extends Activity> type) {
        try {
            Activity activity = type.getDeclaredConstructor().newInstance();
            activity.application = app;
            return activity;
        } catch (ReflectiveOperationException error) {
            throw new AssertionError(error);
        }
    }

    private static boolean live(Record record, String step, State state) {
        record.state = state;
        record.activity.live(step);
        return true;
    }

    private static View find(View view, int label) {
        if (view instanceof TextView && ((TextView) view).label == label) {
            return view;
        }
        if (view instanceof ViewGroup) {
            for (View child : ((ViewGroup) view).views) {
                View found = find(child, label);
                if (found != null) {
                    return found;
                }
            }
        }
        return null;
    }

    private static String texts(View view) {
        StringBuilder texts = new StringBuilder();
        if (view instanceof TextView && ((TextView) view).text != null) {
            texts.append(((TextView) view).text).append(';');
        }
        if (view instanceof ViewGroup) {
            for (View child : ((ViewGroup) view).views) {
                texts.append(texts(child));
            }
        }
        return texts.toString();
    }
}

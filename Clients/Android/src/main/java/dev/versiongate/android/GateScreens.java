package dev.versiongate.android;

import android.app.Activity;
import android.app.AlertDialog;
import android.app.Application;
import android.content.ActivityNotFoundException;
import android.content.Intent;
import android.net.Uri;
import android.os.Bundle;
import android.os.Handler;
import android.os.Looper;
import dev.versiongate.VersionGate;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.regex.Pattern;
import org.jspecify.annotations.NullMarked;
import org.jspecify.annotations.Nullable;

/**
 * Checks whenever the app comes to the foreground, shows messages as dialogs one after the other, and covers the app with a
 * {@link LockoutActivity} while it is locked out. All of it is on the main thread.
 */
@NullMarked
public final class GateScreens {
    private static final long QUARTER = 15 * 60;
    private static final long LEAST = 15;
    private static @Nullable GateScreens installed;

    private final Application app;
    private final VersionGate gate;
    private final @Nullable Updater updater;
    private final Handler main = new Handler(Looper.getMainLooper());
    private final Pattern ownPage;

    /** The activities that can be seen, in the order in which they came. */
    private final List<Activity> visible = new ArrayList<>();
    private @Nullable Activity resumed;
    /** The messages that were not closed yet; the first is in the dialog, if there is one. */
    private final List<VersionGate.Message> waiting = new ArrayList<>();
    private @Nullable AlertDialog dialog;
    private @Nullable Activity dialogOwner;
    private VersionGate.@Nullable Message lockout;
    private final Runnable look = this::look;
    private boolean isChecked;

    private GateScreens(Application app, VersionGate gate, @Nullable Updater updater) {
        this.app = app;
        this.gate = gate;
        this.updater = updater;
        ownPage = Pattern.compile("(market://details|https?://play\\.google\\.com/store/apps/details)\\?(.*&)?id="
            + Pattern.quote(app.getPackageName()) + "([&#].*)?");
    }

    /** Shows what the gate gives, in all activities of the app. Call it once, in {@link Application#onCreate}. */
    public static GateScreens install(Application app, VersionGate gate) {
        return install(app, gate, null);
    }

    /**
     * The same.
     *
     * @param updater updates inside the app where a link is the page of this app on Google Play, or null to open the page
     */
    public static GateScreens install(Application app, VersionGate gate, @Nullable Updater updater) {
        if (installed != null && installed.app == app) {
            throw new IllegalStateException("there are screens already: call install once, in onCreate of the Application");
        }
        GateScreens screens = new GateScreens(app, gate, updater);
        installed = screens;
        app.registerActivityLifecycleCallbacks(screens.new Callbacks());
        return screens;
    }

    /**
     * Checks now, for example after the person has signed in. {@code force} asks although 15 minutes are not over, as each
     * check does during a lockout: one that does not ask gives what is kept, which with a maximum age of 0 is nothing.
     */
    public void check(boolean force) {
        gate.check(force || lockout != null, main::post, this::show);
    }

    /** A lockout is asked for again when it ends, or after 15 minutes, if somebody sees it. */
    private void look() {
        if (lockout != null && !visible.isEmpty()) {
            check(true);
        }
    }

    /** Shows the messages of a check that the app has made: for a button "Check for updates". */
    public void show(List<VersionGate.Message> messages) {
        isChecked = true;
        lockout = null;
        for (VersionGate.Message message : messages) {
            if (message.lockout) {
                lockout = message;
            } else if (!isWaiting(message)) {
                waiting.add(message);
            }
        }
        main.removeCallbacks(look);
        if (lockout != null) {
            // A server that goes on sending what has ended is not asked at once each time.
            long left = lockout.left == null ? QUARTER : Math.min(Math.max(lockout.left, LEAST), QUARTER);
            main.postDelayed(look, TimeUnit.SECONDS.toMillis(left));
        }
        for (Activity activity : new ArrayList<>(visible)) {
            cover(activity);
        }
        showNext();
    }

    private boolean isWaiting(VersionGate.Message message) {
        for (VersionGate.Message other : waiting) {
            if (other.id.equals(message.id)) {
                return true;
            }
        }
        return false;
    }

    private void cover(Activity activity) {
        VersionGate.Message lockout = this.lockout;
        if (activity instanceof LockoutActivity) {
            if (isChecked) {
                ((LockoutActivity) activity).show(lockout, () -> follow(activity, lockout), () -> check(true));
            }
        } else if (lockout != null && !isOfPlay(activity)) {
            activity.startActivity(new Intent(activity, LockoutActivity.class)
                .addFlags(Intent.FLAG_ACTIVITY_REORDER_TO_FRONT | Intent.FLAG_ACTIVITY_NO_ANIMATION));
        }
    }

    /** Play's library opens its screen by an activity in the app's own process. It has to stay above ours. */
    private static boolean isOfPlay(Activity activity) {
        return activity.getClass().getName().startsWith("com.google.android.play.core.");
    }

    private void showNext() {
        Activity activity = resumed;
        if (dialog != null || waiting.isEmpty() || activity == null || activity.isFinishing()) {
            return;
        }
        if (lockout != null && !(activity instanceof LockoutActivity)) {
            return;
        }
        VersionGate.Message message = waiting.get(0);
        String link = message.link;
        AlertDialog.Builder builder = new AlertDialog.Builder(activity).setTitle(message.title).setMessage(message.text)
            .setNegativeButton(R.string.versiongate_close, (shown, button) -> close(message, message::dismiss))
            .setOnCancelListener(shown -> close(message, message::dismiss));
        if (link != null) {
            int label = message.target == null && !isOwnPage(link) ? R.string.versiongate_open : R.string.versiongate_update;
            builder.setPositiveButton(label, (shown, button) -> close(message, () -> follow(activity, message)));
        }
        if (message.skippable) {
            builder.setNeutralButton(R.string.versiongate_skip, (shown, button) -> close(message, message::skip));
        }
        dialogOwner = activity;
        dialog = builder.show();
    }

    private void close(VersionGate.Message message, Runnable action) {
        waiting.remove(message);
        dialog = null;
        dialogOwner = null;
        action.run();
        showNext();
    }

    private void follow(Activity activity, VersionGate.@Nullable Message message) {
        String link = message == null ? null : message.opened();
        if (message == null || link == null) {
            return;
        }
        Runnable open = () -> open(activity, link);
        if (updater != null && isOwnPage(link)) {
            updater.update(activity, message.lockout, open);
        } else {
            open.run();
        }
    }

    private boolean isOwnPage(String link) {
        return ownPage.matcher(link).matches();
    }

    private static void open(Activity activity, String link) {
        try {
            activity.startActivity(new Intent(Intent.ACTION_VIEW, Uri.parse(link)).addFlags(Intent.FLAG_ACTIVITY_NEW_TASK));
        } catch (ActivityNotFoundException | SecurityException error) {
            // No app opens it: a device without the store, for example.
        }
    }

    private final class Callbacks implements Application.ActivityLifecycleCallbacks {
        @Override
        public void onActivityCreated(Activity activity, @Nullable Bundle state) {}

        @Override
        public void onActivityStarted(Activity activity) {
            visible.add(activity);
            if (visible.size() == 1) {
                check(false);
            }
            cover(activity);
        }

        @Override
        public void onActivityResumed(Activity activity) {
            resumed = isOfPlay(activity) ? null : activity;
            cover(activity);
            showNext();
        }

        @Override
        public void onActivityPaused(Activity activity) {
            resumed = resumed == activity ? null : resumed;
        }

        @Override
        public void onActivityStopped(Activity activity) {
            visible.remove(activity);
        }

        @Override
        public void onActivitySaveInstanceState(Activity activity, Bundle state) {}

        /** A dialog goes with its activity, for example by rotation, and comes again with the next. */
        @Override
        public void onActivityDestroyed(Activity activity) {
            if (dialog != null && dialogOwner == activity) {
                dialog.dismiss();
                dialog = null;
                dialogOwner = null;
                showNext();
            }
        }
    }
}

package android.app;

import android.content.Context;
import android.content.Intent;
import android.os.Bundle;
import java.util.ArrayList;
import java.util.List;

/** Stands in for Android's, as far as the tests need it. */
public class Application extends Context {
    /** What activities ask of the device. */
    public interface ActivityManager {
        void start(Activity from, Intent intent);

        void finish(Activity activity);
    }

    /** Hears of each activity. */
    public interface ActivityLifecycleCallbacks {
        void onActivityCreated(Activity activity, Bundle state);

        void onActivityStarted(Activity activity);

        void onActivityResumed(Activity activity);

        void onActivityPaused(Activity activity);

        void onActivityStopped(Activity activity);

        void onActivitySaveInstanceState(Activity activity, Bundle state);

        void onActivityDestroyed(Activity activity);
    }

    public final List<ActivityLifecycleCallbacks> callbacks = new ArrayList<>();
    public ActivityManager system;

    @Override
    public Context getApplicationContext() {
        return this;
    }

    public void registerActivityLifecycleCallbacks(ActivityLifecycleCallbacks added) {
        callbacks.add(added);
    }
}

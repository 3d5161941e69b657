package android.app;

import android.content.Context;
import android.content.Intent;
import android.content.res.Resources;
import android.os.Bundle;
import android.window.OnBackInvokedCallback;
import android.window.OnBackInvokedDispatcher;

/** Stands in for Android's, as far as the tests need it. The device starts and ends it. */
public class Activity extends Context {
    public Application application;
    public android.view.View view;
    public CharSequence title;
    /** What the system calls instead of {@link #onBackPressed}, on a device that does. */
    public OnBackInvokedCallback back;
    private boolean isFinishing;

    @Override
    public Context getApplicationContext() {
        return application;
    }

    protected void onCreate(Bundle state) {
        application.callbacks.forEach(callbacks -> callbacks.onActivityCreated(this, state));
    }

    protected void onStart() {
        application.callbacks.forEach(callbacks -> callbacks.onActivityStarted(this));
    }

    protected void onResume() {
        application.callbacks.forEach(callbacks -> callbacks.onActivityResumed(this));
    }

    protected void onPause() {
        application.callbacks.forEach(callbacks -> callbacks.onActivityPaused(this));
    }

    protected void onStop() {
        application.callbacks.forEach(callbacks -> callbacks.onActivityStopped(this));
    }

    protected void onDestroy() {
        application.callbacks.forEach(callbacks -> callbacks.onActivityDestroyed(this));
    }

    /** Calls a method of the life of the activity. */
    public void live(String step) {
        switch (step) {
        case "create":
            onCreate(null);
            break;
        case "start":
            onStart();
            break;
        case "resume":
            onResume();
            break;
        case "pause":
            onPause();
            break;
        case "stop":
            onStop();
            break;
        default:
            onDestroy();
        }
    }

    public void onBackPressed() {
        finish();
    }

    public Object getOnBackInvokedDispatcher() {
        return (OnBackInvokedDispatcher) (priority, callback) -> back = callback;
    }

    public void startActivity(Intent intent) {
        application.system.start(this, intent);
    }

    public void finish() {
        isFinishing = true;
        application.system.finish(this);
    }

    public boolean isFinishing() {
        return isFinishing;
    }

    public void setContentView(android.view.View view) {
        this.view = view;
    }

    public void setTitle(CharSequence title) {
        this.title = title;
    }

    public Resources getResources() {
        return new Resources();
    }
}

package dev.versiongate.android;

import android.app.Activity;
import org.jspecify.annotations.NullMarked;

/** Starts the update flow of a store inside the app, such as Play In-App Updates. */
@NullMarked
public interface Updater {
    /**
     * The person wants to update, by a button whose link is the page of this app on Google Play. Called on the main thread.
     *
     * @param immediate whether it is a lockout, which stays below: the update may cover the app. Else the app goes on meanwhile
     * @param otherwise opens the link. To be run on the main thread if the store has no such update, or fails
     */
    void update(Activity activity, boolean immediate, Runnable otherwise);
}

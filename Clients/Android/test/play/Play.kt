package com.google.android.play.core.appupdate

import android.app.Activity
import android.content.Context

// Declarations of Play In-App Updates, as far as the sample uses them. They are never run.

interface Task<T> {
    fun addOnSuccessListener(listener: (T) -> Unit): Task<T>
    fun addOnFailureListener(listener: (Exception) -> Unit): Task<T>
}

interface InstallState {
    fun installStatus(): Int
}

interface AppUpdateInfo {
    fun installStatus(): Int
    fun updateAvailability(): Int
    fun isUpdateTypeAllowed(type: Int): Boolean
}

interface AppUpdateManager {
    val appUpdateInfo: Task<AppUpdateInfo>
    fun registerListener(listener: (InstallState) -> Unit)
    fun startUpdateFlow(info: AppUpdateInfo, activity: Activity, options: AppUpdateOptions): Task<Int>
    fun completeUpdate(): Task<Void>
}

object AppUpdateManagerFactory {
    fun create(context: Context): AppUpdateManager = TODO("$context")
}

class AppUpdateOptions {
    companion object {
        fun defaultOptions(type: Int): AppUpdateOptions = TODO("$type")
    }
}

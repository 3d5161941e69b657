// SPDX-License-Identifier: Apache-2.0
// Copyright the versiongate authors
#pragma once
#include <errno.h>
#include <sched.h>
#include <stdint.h>
#include <sys/syscall.h>
#include <unistd.h>

// sched_setattr(2) and sched_getattr(2), for which the C library has no functions before glibc 2.41.
struct vg_sched_attr {
    uint32_t size, policy;
    uint64_t flags;
    int32_t nice;
    uint32_t priority;
    uint64_t runtime, deadline, period;
};

// Asks for a time slice of the calling thread, in nanoseconds, and for a nice value; its policy must be SCHED_OTHER.
// Returns 0, or the number of an error.
static inline int vg_set_slice(uint64_t nanoseconds, int32_t nice) {
    struct vg_sched_attr attributes = {
        .size = sizeof attributes, .policy = SCHED_OTHER, .nice = nice, .runtime = nanoseconds};
    if (sched_getscheduler(0) != SCHED_OTHER) return EINVAL;
    return syscall(SYS_sched_setattr, 0, &attributes, 0) == 0 ? 0 : errno;
}

// The time slice that a thread asked for, in nanoseconds; 0 if none, or where the kernel does not tell. Thread 0 is the
// calling one.
static inline uint64_t vg_slice(pid_t thread) {
    struct vg_sched_attr attributes = {0};
    return syscall(SYS_sched_getattr, thread, &attributes, sizeof attributes, 0) == 0 ? attributes.runtime : 0;
}

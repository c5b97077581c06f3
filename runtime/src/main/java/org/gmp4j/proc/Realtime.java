// SPDX-License-Identifier: Apache-2.0
package org.gmp4j.proc;

import java.util.concurrent.atomic.AtomicBoolean;

import org.gmp4j.ffi.NativeException;
import org.gmp4j.ffi.OsThread;
import org.gmp4j.print.Stderr;

/** Threads of a scheduler under {@code SCHED_FIFO}, where that is permitted. What they start does not inherit it: a flag prevents that. */
final class Realtime {
    /** That of Ms; 0 for the usual policy. */
    private final int priority;
    /** Of the scheduler. */
    private final String name;
    /** Whether it was said that it is not permitted. */
    private final AtomicBoolean refused = new AtomicBoolean();

    Realtime(int priority, String name) {
        this.priority = priority;
        this.name = name;
    }

    /**
     * On a thread of the runtime, after {@link CleanStart#begin}.
     *
     * @param more how much above the priority of Ms
     */
    void begin(int more) {
        if (priority == 0) {
            return;
        }
        try {
            OsThread.setScheduler(0, OsThread.SCHED_FIFO | OsThread.RESET_ON_FORK, priority + more);
        } catch (NativeException e) {
            if (refused.compareAndSet(false, true)) {
                Stderr.tryPrint("gmp4j: threads of ", name, " run under the usual policy: ", String.valueOf(e.getMessage()),
                        "; real time needs CAP_SYS_NICE, or ulimit -r ", String.valueOf(priority + 1));
            }
        }
    }

    /** Whether the system has refused it. */
    boolean isRefused() {
        return refused.get();
    }
}

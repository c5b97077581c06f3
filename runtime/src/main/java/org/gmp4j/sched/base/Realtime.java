// SPDX-License-Identifier: Apache-2.0
package org.gmp4j.sched.base;

import java.util.concurrent.atomic.AtomicBoolean;

import org.gmp4j.ffi.NativeException;
import org.gmp4j.ffi.OsThread;
import org.gmp4j.print.Stderr;

/**
 * Puts threads of a scheduler under {@code SCHED_FIFO}, where that is permitted. The policy has the flag RESET_ON_FORK, so the threads and
 * processes that these threads start do not inherit it.
 */
public final class Realtime {
    /** The priority of Ms; 0 for the usual policy. */
    private final int priority;
    /** The name of the scheduler. */
    private final String name;
    /** Whether the system has refused the policy, and a line was printed. */
    private final AtomicBoolean refused = new AtomicBoolean();

    Realtime(int priority, String name) {
        this.priority = priority;
        this.name = name;
    }

    /**
     * Sets the policy of the calling thread of the runtime. Called after {@link CleanStart#begin}.
     *
     * @param more how much the thread's priority exceeds that of Ms
     */
    public void begin(int more) {
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

    /** Returns whether the system has refused the policy. */
    boolean isRefused() {
        return refused.get();
    }
}

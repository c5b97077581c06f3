// SPDX-License-Identifier: Apache-2.0
package org.gmp4j.sched.life;

import java.util.Arrays;

import org.gmp4j.ffi.Futex;
import org.gmp4j.lock.ProcessEnd;
import org.gmp4j.sched.base.CleanStart;
import org.gmp4j.sched.base.Machine;
import org.gmp4j.sched.base.Scheduler;
import org.gmp4j.stack.JdkShutdown;
import org.gmp4j.struct.M;
import org.gmp4j.struct.Schedt;
import org.jspecify.annotations.Nullable;

/**
 * Keeps the list of the process's schedulers that are not closed ({@link Scheduler#live}), and wakes their threads when the process ends.
 */
public final class LiveSchedulers {
    private static final LastHook LAST_HOOK = new LastHook();
    /** The calls that wake the threads which serve timers and sockets of plain threads. Each is written once, under the monitor. */
    private static volatile @Nullable Runnable timers;
    private static volatile @Nullable Runnable sockets;

    private LiveSchedulers() {
    }

    /**
     * Runs after all shutdown hooks of the program. It wakes the threads that sleep in native code, so that they go on to sleep in Java
     * code ({@link ProcessEnd}). The word on which such a thread sleeps does not change, so the wake-up is a spurious one. A thread that is
     * about to sleep may miss it, and then the process ends 300 ms later. The JDK refers to the hook, and so to the runtime's class loader,
     * only while a scheduler lives, or a thread of {@link #timers} or {@link #sockets}, which never ends.
     */
    private static final class LastHook implements Runnable {
        @Override
        public void run() {
            Scheduler[] all = Scheduler.live();
            int machines = 0;
            for (Scheduler s : all) {
                machines += s.allm.machines().length;
            }
            ProcessEnd.begin(machines);
            CleanStart.wakeTemplate();
            for (Scheduler s : all) {
                if (s.beginReading()) { // Keeps other threads from closing the scheduler, and the descriptor to which wake writes.
                    try {
                        wake(s);
                    } finally {
                        s.endReading();
                    }
                }
            }
            wake(timers);
            wake(sockets);
        }

        private static void wake(Scheduler s) {
            Futex.wake(Schedt.sysmonnoteAddress(s.sched), 1);
            for (Machine m : s.allm.machines()) {
                Futex.wake(M.parkAddress(m.mp), 1);
            }
            s.netpoll().wake(s);
        }

        private static void wake(@Nullable Runnable thread) {
            if (thread != null) {
                thread.run();
            }
        }
    }

    private static void hook() {
        JdkShutdown.addLast(LAST_HOOK);
    }

    /**
     * Sets the call that wakes the thread for timers outside of schedulers when the process ends. That thread never ends. Allocates
     * nothing.
     */
    public static synchronized void timers(Runnable wake) {
        timers = wake;
        hook();
    }

    /** Sets the call that wakes the thread for sockets outside of schedulers when the process ends. That thread never ends. */
    public static synchronized void sockets(Runnable wake) {
        sockets = wake;
        hook();
    }

    static synchronized void add(Scheduler s) {
        Scheduler[] now = Scheduler.live();
        s.label = label(now, s.name);
        Scheduler[] next = Arrays.copyOf(now, now.length + 1);
        next[now.length] = s;
        Scheduler.setLive(next);
        hook();
    }

    private static String label(Scheduler[] others, String name) {
        String label = name;
        for (int n = 2; isTaken(others, label); n++) {
            label = name + "-" + n;
        }
        return label;
    }

    private static boolean isTaken(Scheduler[] others, String label) {
        for (Scheduler other : others) {
            if (other.label.equals(label)) {
                return true;
            }
        }
        return false;
    }

    /**
     * Removes {@code s} from the list, if it is there. If there is no memory for a shorter list, a second reference to another scheduler
     * replaces it.
     */
    @SuppressWarnings("NullAway") // "another" is not null where it is used, because left > 0.
    static synchronized void remove(Scheduler s) {
        Scheduler[] now = Scheduler.live();
        Scheduler another = null;
        int left = 0;
        for (Scheduler other : now) {
            if (other != s) {
                another = other;
                left++;
            }
        }
        if (left == 0) {
            Scheduler.setLive(new Scheduler[0]);
            if (timers == null && sockets == null) {
                JdkShutdown.removeLast(LAST_HOOK);
            }
            return;
        }
        try {
            Scheduler[] next = new Scheduler[left];
            int n = 0;
            for (Scheduler other : now) {
                if (other != s) {
                    next[n++] = other;
                }
            }
            Scheduler.setLive(next);
        } catch (OutOfMemoryError e) {
            for (int i = 0; i < now.length; i++) {
                if (now[i] == s) {
                    now[i] = another;
                }
            }
        }
    }
}

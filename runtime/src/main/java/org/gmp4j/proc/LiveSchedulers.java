// SPDX-License-Identifier: Apache-2.0
package org.gmp4j.proc;

import java.util.Arrays;

import org.gmp4j.ffi.Futex;
import org.gmp4j.lock.ProcessEnd;
import org.gmp4j.stack.JdkShutdown;
import org.gmp4j.struct.M;
import org.gmp4j.struct.Schedt;

/** The schedulers of this process that are not closed. */
public final class LiveSchedulers {
    private static final Scheduler[] NONE = {};
    private static final LastHook LAST_HOOK = new LastHook();
    /** Replaced under the class's monitor; read by all. */
    private static volatile Scheduler[] list = NONE;

    private LiveSchedulers() {
    }

    /**
     * Runs after all shutdown hooks of the program: wakes the threads that sleep in native code, so that they sleep in Java code ({@link
     * ProcessEnd}). The word that such a thread sleeps on stays as it is, so the wake-up is a spurious one. A thread that is about to
     * sleep may miss it, and then the process ends 300 ms later. The JDK refers to the hook, and so to our class loader, only while a
     * scheduler lives.
     */
    private static final class LastHook implements Runnable {
        @Override
        public void run() {
            ProcessEnd.begin();
            CleanStart.wakeTemplate();
            for (Scheduler s : list) {
                Futex.wake(Schedt.sysmonnoteAddress(s.sched), 1);
                for (Machine m : s.allm.machines()) {
                    Futex.wake(M.parkAddress(m.mp), 1);
                }
                s.netpoll().wake(s);
            }
        }
    }

    /** All of them, in the order of their making; not to be written to. One may be in it twice. */
    public static Scheduler[] all() {
        return list;
    }

    static synchronized void add(Scheduler s) {
        Scheduler[] now = list;
        s.label = label(now, s.name);
        Scheduler[] next = Arrays.copyOf(now, now.length + 1);
        next[now.length] = s;
        list = next;
        JdkShutdown.addLast(LAST_HOOK);
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

    /** Takes {@code s} out if it is there. Never fails: without memory for a shorter list, another scheduler is put in its place. */
    @SuppressWarnings("NullAway") // Another is there where one is put.
    static synchronized void remove(Scheduler s) {
        Scheduler[] now = list;
        Scheduler another = null;
        int left = 0;
        for (Scheduler other : now) {
            if (other != s) {
                another = other;
                left++;
            }
        }
        if (left == 0) {
            list = NONE;
            JdkShutdown.removeLast(LAST_HOOK);
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
            list = next;
        } catch (OutOfMemoryError e) {
            for (int i = 0; i < now.length; i++) {
                if (now[i] == s) {
                    now[i] = another;
                }
            }
        }
    }
}

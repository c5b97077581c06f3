// SPDX-License-Identifier: Apache-2.0
package org.gmp4j.report;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashSet;
import java.util.List;
import java.util.Set;

import org.gmp4j.sched.GStack;
import org.gmp4j.sched.base.Scheduler;
import org.gmp4j.stack.Stack;
import org.gmp4j.struct.G;
import org.gmp4j.struct.GStatus;
import org.gmp4j.struct.Schedt;
import org.jspecify.annotations.Nullable;

/**
 * Searches the stacks of all goroutines and platform threads, parked ones included, for methods. Classes are compared by name, so a class
 * of another loader is found too. A stack that is too deep to be read completely counts as if it had all the methods. Virtual threads of
 * the JDK's own scheduler are not searched, because there is no list of them.
 *
 * <p>Each goroutine takes some microseconds of the caller's time, and a running goroutine is stopped for a moment. A search stops
 * after {@value #MOST} goroutines.
 */
public final class StackSearch {
    static final int MOST = 20_000;
    /** The greatest number of frames that HotSpot returns for a running thread: the default of {@code -XX:MaxJavaStackTraceDepth}. */
    private static final int CUT = 1024;

    private final List<String> types = new ArrayList<>();
    private final List<@Nullable Set<String>> methods = new ArrayList<>();
    private final List<Set<Long>> holders = new ArrayList<>();
    private int searched;

    /** Adds a class to search for, and the names of those of its methods that count; null for all methods. */
    public void add(String type, @Nullable Set<String> names) {
        types.add(type);
        methods.add(names);
        holders.add(new HashSet<>());
    }

    /**
     * Searches all stacks.
     *
     * @return false when it gave up before the end
     */
    public boolean run() {
        for (Thread t : platformThreads()) {
            look(t, t.threadId());
        }
        for (Scheduler s : Scheduler.live()) {
            if (!goroutines(s)) {
                return false;
            }
        }
        return true;
    }

    /**
     * Searches the goroutines of a scheduler. Returns false if a search for leaks ran at the same time, because that search takes frames
     * off stacks while it stops the world.
     */
    private boolean goroutines(Scheduler s) {
        long started = Schedt.PROCRESIZETIME.getVolatile(s.sched); // It is written each time that the world is started again.
        return !s.hidesStacks() && s.slots.all(gp -> goroutine(s, gp)) && !s.hidesStacks()
                && started == Schedt.PROCRESIZETIME.getVolatile(s.sched);
    }

    /**
     * Returns the threads and goroutines that have a method of the {@code i}th added class on their stacks: the ids of threads, and the
     * negated numbers of goroutines.
     */
    public Set<Long> holders(int i) {
        return holders.get(i);
    }

    private boolean goroutine(Scheduler s, long gp) {
        int status = GStatus.readgstatus(gp) & ~GStatus.GSCAN;
        Stack st = status == GStatus.GDEAD || status == GStatus.GIDLE ? null : GStack.of(s, gp);
        if (st == null) {
            return true; // The goroutine has not begun to run, or has ended.
        }
        if (++searched > MOST) {
            return false;
        }
        look(st.thread, -G.GOID.get(gp)); // Successive goroutines may have the same thread.
        return true;
    }

    static Thread[] platformThreads() {
        ThreadGroup root = Thread.currentThread().getThreadGroup();
        while (root.getParent() != null) {
            root = root.getParent();
        }
        for (int room = 2 * root.activeCount() + 8;; room *= 2) {
            Thread[] all = new Thread[room];
            int n = root.enumerate(all);
            if (n < room) {
                return Arrays.copyOf(all, n);
            }
        }
    }

    private void look(Thread t, long holder) {
        StackTraceElement[] frames = t.getStackTrace();
        if (frames.length == CUT) {
            for (Set<Long> all : holders) {
                boolean _ = all.add(holder);
            }
            return;
        }
        for (StackTraceElement frame : frames) {
            for (int i = 0; i < types.size(); i++) {
                Set<String> names = methods.get(i);
                if (types.get(i).equals(frame.getClassName()) && (names == null || names.contains(frame.getMethodName()))) {
                    boolean _ = holders.get(i).add(holder);
                }
            }
        }
    }
}

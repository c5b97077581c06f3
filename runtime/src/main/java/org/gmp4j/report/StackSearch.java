// SPDX-License-Identifier: Apache-2.0
package org.gmp4j.report;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collections;
import java.util.HashSet;
import java.util.List;
import java.util.Objects;
import java.util.Set;
import java.util.concurrent.locks.LockSupport;

import org.gmp4j.ffi.OsThread;
import org.gmp4j.sched.GStack;
import org.gmp4j.sched.base.Scheduler;
import org.gmp4j.stack.OwnThread;
import org.gmp4j.stack.Stack;
import org.gmp4j.struct.G;
import org.gmp4j.struct.GStatus;
import org.jspecify.annotations.Nullable;

/**
 * Searches the stacks of all goroutines and platform threads, parked ones included, for methods. Classes are compared by name, so a class
 * of another loader is found too. A stack that is too deep to be read completely counts as if it had all the methods. Virtual threads of
 * the JDK's own scheduler are not searched, because there is no list of them.
 *
 * <p>A search stops each running goroutine for a moment. It sleeps for {@value #SLEEP} ns after each {@value #WORK} ns of CPU time, so that
 * it does not compete for a busy CPU. It gives up after {@value #MOST} goroutines.
 */
public final class StackSearch {
    static final int MOST = 20_000;
    static final long WORK = 1_000_000;
    static final long SLEEP = 4_000_000;
    /** The greatest number of frames that HotSpot returns for a running thread: the default of {@code -XX:MaxJavaStackTraceDepth}. */
    private static final int CUT = 1024;

    private final List<String> types = new ArrayList<>();
    private final List<@Nullable Set<String>> methods = new ArrayList<>();
    private final List<Set<Call>> calls = new ArrayList<>();
    private int searched;
    /** The caller's CPU time at the end of the last sleep, ns. */
    private long woke = OsThread.cpuNanos(0);

    /**
     * A method on a stack.
     *
     * @param holder the id of the thread, or the negated number of the goroutine, whose stack it is
     * @param method the name of the method; null if the search was for all methods of the class
     */
    public record Call(long holder, @Nullable String method) {
        // The JVM generates the code of a record's own equals and hashCode at their first use, which takes long in a young JVM.
        @Override
        public boolean equals(Object o) {
            return o instanceof Call c && holder == c.holder && Objects.equals(method, c.method);
        }

        @Override
        public int hashCode() {
            return Long.hashCode(holder) + Objects.hashCode(method);
        }
    }

    /** Adds a class, and the names of its methods to search for; null for all its methods. */
    public void add(String type, @Nullable Set<String> names) {
        types.add(type);
        methods.add(names);
        calls.add(new HashSet<>());
    }

    /**
     * Searches all stacks.
     *
     * @return false when there are too many goroutines, or a search for leaks ran at the same time, so that this search is incomplete
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
     * Searches the goroutines of a scheduler. Returns false if there are too many, or if a search for leaks ran at the same time, because
     * that search takes frames off stacks while it stops the world.
     */
    boolean goroutines(Scheduler s) {
        int leakSearches = s.leakSearches();
        return !s.hidesStacks() && s.slots.all(gp -> goroutine(s, gp)) && leakSearches == s.leakSearches();
    }

    /** Returns the calls of methods of the {@code i}th added class. */
    public Set<Call> calls(int i) {
        return calls.get(i);
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
        look(st.thread, -G.GOID.get(gp)); // Not the thread's id, because successive goroutines may have the same thread.
        return true;
    }

    static Thread[] platformThreads() {
        ThreadGroup root = OwnThread.root();
        for (int room = 2 * root.activeCount() + 8;; room *= 2) {
            Thread[] all = new Thread[room];
            int n = root.enumerate(all);
            if (n < room) {
                return Arrays.copyOf(all, n);
            }
        }
    }

    private void look(Thread t, long holder) {
        long cpu = OsThread.cpuNanos(0);
        if (cpu - woke >= WORK) {
            boolean _ = Thread.interrupted(); // An interrupt would end the sleep.
            LockSupport.parkNanos(SLEEP);
            woke = cpu;
        }
        StackTraceElement[] frames = t.getStackTrace();
        for (int i = 0; i < types.size(); i++) {
            Set<String> names = methods.get(i);
            if (frames.length == CUT) {
                for (String method : names == null ? Collections.<@Nullable String>singleton(null) : names) {
                    boolean _ = calls.get(i).add(new Call(holder, method));
                }
                continue;
            }
            for (StackTraceElement frame : frames) {
                String method = frame.getMethodName();
                if (types.get(i).equals(frame.getClassName()) && (names == null || names.contains(method))) {
                    boolean _ = calls.get(i).add(new Call(holder, names == null ? null : method));
                }
            }
        }
    }
}

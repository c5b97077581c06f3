// SPDX-License-Identifier: Apache-2.0
package org.gmp4j.report;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.concurrent.locks.LockSupport;

import org.gmp4j.ffi.NativeException;
import org.gmp4j.ffi.Sockets;
import org.gmp4j.sched.GStack;
import org.gmp4j.sched.base.Netpoll;
import org.gmp4j.sched.base.Scheduler;
import org.gmp4j.stack.JdkState;
import org.gmp4j.struct.G;
import org.gmp4j.struct.GStatus;
import org.gmp4j.struct.JdkWait;
import org.gmp4j.struct.WaitReason;
import org.jspecify.annotations.Nullable;

/**
 * The states of goroutines in words, for one reading of a scheduler. For a goroutine that waits in the JDK, {@link JdkWait} gives the
 * reason. If the frames were not read, and the thread is parked without a blocker, the reason follows from the kind of the file for whose
 * descriptor the goroutine waits in the poller. If it waits for no descriptor, this class reads the thread's frames, to distinguish a wait
 * in the JDK's own poller from a sleep. It reads the frames of at most {@value #MOST_STACKS} threads, so that a reading does not take long.
 * For use by one thread.
 */
final class States {
    private static final int MOST_STACKS = 256;
    private static final String PINNED = ", pinned";
    private static final String SELECTOR = "anon_inode:[eventpoll]";
    private static final String PIPE = "pipe:";

    private final Scheduler s;
    private int stacksLeft;
    /**
     * For each G, by {@link G#INDEX}: the descriptor for which the G waits, plus 1, and negated if the G waits to write; 0 for none. The
     * array is null until it is needed.
     */
    private int @Nullable [] descriptors;

    States(Scheduler s) {
        this(s, MOST_STACKS);
    }

    States(Scheduler s, int stacks) {
        this.s = s;
        stacksLeft = stacks;
    }

    /**
     * Returns the state of a goroutine, or the reason of its wait.
     *
     * @param status the G's status without the scan bit
     * @param st the G's stack; null when it has none
     * @param frames the G's frames, innermost first; null when they were not read
     */
    String of(long gp, int status, @Nullable GStack st, StackTraceElement @Nullable [] frames) {
        return switch (status) {
            case GStatus.GRUNNABLE -> "runnable";
            case GStatus.GRUNNING -> running("running", gp, st, frames);
            case GStatus.GSYSCALL -> running("syscall", gp, st, frames);
            case GStatus.GWAITING -> {
                WaitReason reason = WaitReason.of(G.WAITREASON.getOpaque(gp));
                yield reason == WaitReason.JDK && st != null ? inJdk(gp, st, frames, reason.text()) : reason.text();
            }
            case GStatus.GPREEMPTED -> "preempted";
            default -> GStatus.name(status);
        };
    }

    /**
     * Returns the state of a mounted goroutine. A goroutine that parks while it is pinned keeps its thread, so its status does not show
     * that it waits.
     */
    private String running(String state, long gp, @Nullable GStack st, StackTraceElement @Nullable [] frames) {
        return st == null || !JdkState.isPinned(st) ? state : inJdk(gp, st, frames, state).concat(PINNED);
    }

    private String inJdk(long gp, GStack st, StackTraceElement @Nullable [] frames, String otherwise) {
        JdkState.Wait state = JdkState.wait(st);
        if (state == JdkState.Wait.NONE) {
            return otherwise;
        }
        Object blocker = LockSupport.getBlocker(st.thread);
        Class<?> type = blocker == null ? null : blocker.getClass();
        boolean parked = state == JdkState.Wait.PARKED || state == JdkState.Wait.PARKED_FOR_A_TIME;
        WaitReason better = null;
        if (frames != null) {
            better = JdkWait.of(frames);
        } else if (parked && type == null) {
            int d = descriptor(gp);
            better = d != 0 ? ofDescriptor(d) : stacksLeft > 0 && !s.hidesStacks() ? ofStack(st) : null;
        }
        return better != null ? better.text() : JdkWait.text(JdkWait.of(state, type, null), type);
    }

    private @Nullable WaitReason ofStack(GStack st) {
        stacksLeft--;
        return JdkWait.of(st.thread.getStackTrace());
    }

    /** Returns the element of {@link #descriptors} for a goroutine. */
    private int descriptor(long gp) {
        if (descriptors == null) {
            Descriptors found = new Descriptors();
            s.netpoll().eachWait(found);
            descriptors = found.byG;
        }
        int i = G.INDEX.get(gp);
        return i < descriptors.length ? descriptors[i] : 0;
    }

    /** Fills {@link #descriptors}. */
    private static final class Descriptors implements Netpoll.Waits {
        private int[] byG = {};

        @Override
        public void waits(long gp, int fd, boolean write) {
            int i = G.INDEX.get(gp);
            if (i >= byG.length) {
                byG = Arrays.copyOf(byG, 2 * i + 1);
            }
            byG[i] = write ? -fd - 1 : fd + 1;
        }
    }

    /**
     * Returns the reason of the wait for an element of {@link #descriptors}; null when the descriptor is closed, or when no goroutine waits
     * for files of its kind. The number of the descriptor may by now belong to another file.
     */
    static @Nullable WaitReason ofDescriptor(int d) {
        boolean write = d < 0;
        int fd = Math.abs(d) - 1;
        try {
            return Sockets.isListening(fd) ? WaitReason.SOCKET_ACCEPT
                    : !write ? WaitReason.SOCKET_READ
                    : Sockets.isConnected(fd) ? WaitReason.SOCKET_WRITE : WaitReason.SOCKET_CONNECT;
        } catch (NativeException noSocket) {
            String file = file(fd);
            return file.equals(SELECTOR) ? WaitReason.SELECTOR : file.startsWith(PIPE) ? WaitReason.PIPE : null;
        }
    }

    /** Returns the kernel's name for the file of a descriptor; empty when the descriptor is closed. */
    private static String file(int fd) {
        try {
            return Files.readSymbolicLink(Path.of("/proc/self/fd/" + fd)).toString();
        } catch (IOException closed) {
            return "";
        }
    }
}

// SPDX-License-Identifier: Apache-2.0
package org.gmp4j.ffi;

import static java.lang.foreign.ValueLayout.JAVA_INT;
import static java.lang.foreign.ValueLayout.JAVA_LONG;

import java.lang.foreign.Arena;
import java.lang.foreign.FunctionDescriptor;
import java.lang.foreign.MemorySegment;
import java.lang.invoke.MethodHandle;

import org.gmp4j.ffi.linux.linux_h;
import org.gmp4j.ffi.linux.sched_param;

/**
 * The kernel's side of a thread. What says "calling thread" means the OS thread: inside a virtual thread that is its
 * carrier. Thread-safe.
 */
public final class OsThread {
    /** {@link #setScheduler}: the usual policy; priority 0. */
    public static final int SCHED_OTHER = linux_h.SCHED_OTHER();

    /** {@link #setScheduler}: as usual, for work that is not interactive; priority 0. */
    public static final int SCHED_BATCH = linux_h.SCHED_BATCH();

    /** {@link #setScheduler}: real time until it yields; priority 1 to 99. */
    public static final int SCHED_FIFO = linux_h.SCHED_FIFO();

    /** {@link #setScheduler}: real time in turns; priority 1 to 99. */
    public static final int SCHED_RR = linux_h.SCHED_RR();

    /** {@link #setScheduler}: added to a policy, what the thread creates has the usual one. */
    public static final int RESET_ON_FORK = linux_h.SCHED_RESET_ON_FORK();

    private static final Call.Function GETTID = Call.function("gmp_gettid");
    private static final Call.Function GETPID = Call.function("gmp_getpid");
    private static final Call.Function SLICE = Call.function("gmp_sched_slice");
    private static final Call.Function CPU = Call.function("gmp_thread_cpu");
    private static final Call.Function STATE = Call.function("gmp_thread_state");

    private OsThread() {
    }

    /**
     * The kernel's id of the calling thread.
     *
     * @return the id, positive
     */
    public static int gettid() {
        return (int) Call.critical(GETTID);
    }

    /**
     * The kernel's id of this process, which is that of its first thread.
     *
     * @return the id, positive
     */
    public static int getpid() {
        return (int) Call.critical(GETPID);
    }

    /**
     * Sets how much later than asked the kernel may end sleeps of the calling thread, to save wake-ups.
     *
     * @param nanos nanoseconds; 1 is the least, 0 goes back to the process's default (usually 50,000)
     * @throws NativeException as prctl
     */
    public static void setTimerSlack(long nanos) {
        prctl("PR_SET_TIMERSLACK, " + nanos, linux_h.PR_SET_TIMERSLACK(), nanos);
    }

    /**
     * Asks the kernel for short time slices for a thread of this process: one that sleeps and works a little then need not wait for
     * the slice of another that runs. Threads that it starts inherit them. Linux 6.12 and later; earlier ones ignore it.
     *
     * @param tid the kernel's thread id, 0 for the calling thread
     * @param nanos nanoseconds, 100,000 to 100,000,000; 0 for the usual ones
     * @return whether the kernel took it
     */
    public static boolean setSlice(int tid, long nanos) {
        return (int) Call.call(SLICE, tid, nanos, 0) == 0;
    }

    /**
     * The same for HotSpot's VM thread. What the runtime starts does not inherit that: {@link Inheritance#begin} knows the slices
     * of before.
     *
     * @param nanos nanoseconds, 100,000 to 100,000,000; 0 for those of before
     * @return whether the thread was found, and the kernel took it
     */
    public static boolean setVmSlice(long nanos) {
        return (int) Call.call(Call.function("gmp_vm_slice"), nanos) == 0;
    }

    /**
     * The calling thread's timer slack.
     *
     * @return nanoseconds
     */
    public static int timerSlack() {
        return prctl("PR_GET_TIMERSLACK", linux_h.PR_GET_TIMERSLACK(), 0);
    }

    /**
     * Names the calling thread, for {@code ps}, {@code top} and {@code perf}.
     *
     * @param name the name; the kernel keeps 15 bytes of UTF-8
     */
    public static void setName(String name) {
        try (Arena arena = Arena.ofConfined()) {
            prctl("PR_SET_NAME, " + name, linux_h.PR_SET_NAME(), arena.allocateFrom(name).address());
        }
    }

    /**
     * Sets a thread's scheduling policy.
     *
     * @param tid the kernel's thread id, 0 for the calling thread
     * @param policy one of the {@code SCHED} constants
     * @param priority 1 to 99 for the real-time policies, otherwise 0
     * @throws NativeException EPERM without the right to it, EINVAL for a bad pair, ESRCH when there is no such thread
     */
    public static void setScheduler(int tid, int policy, int priority) {
        try (Arena arena = Arena.ofConfined()) {
            MemorySegment param = sched_param.allocate(arena);
            sched_param.sched_priority(param, priority);
            MemorySegment state = Link.state(arena);
            int r = (int) Cold.SETSCHEDULER.invokeExact(state, tid, policy, param);
            if (r < 0) {
                throw new NativeException(
                        "sched_setscheduler(" + tid + ", policy " + policy + ", priority " + priority + ")",
                        Link.errno(state));
            }
        } catch (Throwable t) {
            throw Link.unexpected(t);
        }
    }

    /**
     * A thread's scheduling policy.
     *
     * @param tid the kernel's thread id, 0 for the calling thread
     * @return one of the {@code SCHED} constants
     * @throws NativeException ESRCH when there is no such thread
     */
    public static int scheduler(int tid) {
        try (Arena arena = Arena.ofConfined()) {
            MemorySegment state = Link.state(arena);
            int r = (int) Cold.GETSCHEDULER.invokeExact(state, tid);
            if (r < 0) {
                throw new NativeException("sched_getscheduler(" + tid + ")", Link.errno(state));
            }
            return r;
        } catch (Throwable t) {
            throw Link.unexpected(t);
        }
    }

    /**
     * The CPU time that a thread of this process has had; exact also while it runs, which {@code /proc} is not. Does not
     * allocate.
     *
     * @param tid the kernel's thread id, 0 for the calling thread
     * @return nanoseconds, or the negated error number ({@code -Errno.EINVAL} when this process has no such thread)
     */
    public static long cpuNanos(int tid) {
        return Call.call(CPU, tid);
    }

    /**
     * What a thread of this process does, by {@code /proc}. Does not allocate, and keeps no file open. Some four microseconds.
     *
     * @param tid the kernel's thread id
     * @return {@code 'R'} when it has a CPU or waits for one, {@code 'S'} and others when it sleeps, or the negated error number
     *     (there is no such thread, there are too many open files)
     */
    public static int state(int tid) {
        return (int) Call.call(STATE, tid);
    }

    private static int prctl(String what, int option, long argument) {
        try (Arena arena = Arena.ofConfined()) {
            MemorySegment state = Link.state(arena);
            int r = (int) Cold.PRCTL.invokeExact(state, option, argument);
            if (r < 0) {
                throw new NativeException("prctl(" + what + ")", Link.errno(state));
            }
            return r;
        } catch (Throwable t) {
            throw Link.unexpected(t);
        }
    }

    /** Apart, so that code without a use for them does not link them. */
    private static final class Cold {
        static final MethodHandle SETSCHEDULER =
                Link.capturing(linux_h.sched_setscheduler$address(), linux_h.sched_setscheduler$descriptor());
        static final MethodHandle GETSCHEDULER =
                Link.capturing(linux_h.sched_getscheduler$address(), linux_h.sched_getscheduler$descriptor());

        /** {@code int prctl(int option, ...)}: the options used here take one argument of the width of a long. */
        static final MethodHandle PRCTL = Link.capturingVariadic(
                linux_h.prctl.address(), FunctionDescriptor.of(JAVA_INT, JAVA_INT, JAVA_LONG), 1);
    }
}
